"""Breakpoints and exception filters at the prompt: how they are written, and which there are."""
