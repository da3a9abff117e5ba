"""Serve the client's requests at a stop: frames, scopes, variables, evaluation."""
