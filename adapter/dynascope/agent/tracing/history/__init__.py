"""Record the history of each value while an attempt is traced, and read it at a stop."""
