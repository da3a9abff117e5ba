"""Make the rows of the tree of runs from the facts: a client only shows them. They say what the report says."""
