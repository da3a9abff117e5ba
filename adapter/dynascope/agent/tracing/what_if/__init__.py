"""Try a change at a stop: the frame is traced to its end with and without it, and the difference is told."""
