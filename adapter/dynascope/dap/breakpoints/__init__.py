"""Set breakpoints and exception filters in debugpy and in the agent."""
