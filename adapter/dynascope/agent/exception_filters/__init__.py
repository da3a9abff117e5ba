"""Stops at what the compiler decides: one file per exception filter, their conditions, and what switches them."""
