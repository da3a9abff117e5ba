"""The FX graph: nodes, code, and the events by which it grows."""
