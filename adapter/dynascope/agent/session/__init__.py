"""The agent, one for each debugged process. It serves the requests of the adapter."""
