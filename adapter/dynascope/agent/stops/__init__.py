"""Where a thread waits at a stop, and what is asked of it there."""
