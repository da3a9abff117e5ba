"""The text of documents: its lines, its syntax tree, edits of it, and how its lines moved."""
