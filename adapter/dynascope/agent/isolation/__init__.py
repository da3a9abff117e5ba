"""Evaluate expressions without effects on the trace or the stop: isolation, containment."""
