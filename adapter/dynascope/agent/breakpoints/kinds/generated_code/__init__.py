"""Breakpoints on instructions of generated code, and steps from one to the next while it runs."""
