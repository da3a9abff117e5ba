"""The agent: one for each debugged process. Serves the requests of the adapter."""
