"""Stops at what the compiler decides: one file per exception filter, and their conditions."""
