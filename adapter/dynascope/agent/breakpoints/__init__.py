"""Breakpoints of every kind: what the client sets, and where each stops."""
