"""Placing breakpoints and exception filters in both halves: debugpy and the agent."""
