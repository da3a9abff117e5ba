"""The channel to the agent in the program: connections, requests and their replies."""
