"""Serve *Try It*: run the recorded program without and with a fix, and compare both runs."""
