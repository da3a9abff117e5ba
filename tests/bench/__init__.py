"""Benchmarks: ratios measured side by side in one run, never asserted. `make bench` prints them all."""
