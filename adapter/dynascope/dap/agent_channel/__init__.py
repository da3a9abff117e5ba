"""The channel to the agent in the program: requests, replies, and looks that are under way."""
