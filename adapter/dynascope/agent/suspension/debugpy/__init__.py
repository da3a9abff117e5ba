"""Adapt debugpy for compile-time stops: steps, breakpoints, threads, child processes."""
