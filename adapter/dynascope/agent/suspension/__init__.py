"""Where a stopped thread waits: inside pydevd when debugpy is there, else in our own loop."""
