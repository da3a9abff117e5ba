"""Breakpoints of every kind: what the client has set, and what stops where."""
