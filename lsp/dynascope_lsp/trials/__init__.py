"""Serve *Try It*: compare runs of the program without and with a fix, each in a process."""
