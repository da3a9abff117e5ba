"""How the agent gets into a program: launched, listened for, or injected by debugpy."""
