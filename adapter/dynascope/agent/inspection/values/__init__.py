"""Show tensors, symbolic values, guards and Python objects as rows of the Variables view."""
