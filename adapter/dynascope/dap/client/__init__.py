"""The client of a session: what it has said, and the breakpoints it has set."""
