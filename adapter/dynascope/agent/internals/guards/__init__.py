"""`torch._guards`: guards being collected, and those that were built."""
