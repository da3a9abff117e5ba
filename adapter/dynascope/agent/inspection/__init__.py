"""What a client sees of a stopped thread: frames, scopes, variables, evaluation."""
