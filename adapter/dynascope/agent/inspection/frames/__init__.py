"""Serve symbolic and run-time stack frames, with their parameters and step-in targets."""
