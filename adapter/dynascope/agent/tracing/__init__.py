"""Decide at every frame and line that Dynamo traces whether to stop."""
