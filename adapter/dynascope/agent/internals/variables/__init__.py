"""`VariableTracker` and what it holds, read from plain attributes."""
