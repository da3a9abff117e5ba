"""Breakpoints and exception filters of the prompt: their notation, and those that the user has set."""
