"""Starts the agent in a program: launched, listening, or injected by debugpy."""
