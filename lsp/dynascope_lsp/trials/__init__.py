"""*Try It*: the recorded program runs as it is and with a fix, in processes of their own, and both are compared."""
