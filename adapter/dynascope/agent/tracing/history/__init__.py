"""Keep the tapes of attempts, and read the history of each value from them at a stop."""
