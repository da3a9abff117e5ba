"""Stop threads at compile time and serve the requests of the client at a stop."""
