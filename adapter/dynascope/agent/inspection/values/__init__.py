"""Values as rows of the Variables view: tensors, symbolic values, guards, plain Python objects."""
