"""The client of a session: its arguments, its breakpoints, and progress events for it."""
