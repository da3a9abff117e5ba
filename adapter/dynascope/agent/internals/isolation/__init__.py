"""Keeping what we do out of the sight of Dynamo: evaluation, containment."""
