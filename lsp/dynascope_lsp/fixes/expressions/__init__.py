"""Read an expression's full name, the type of its tensor, and its side effects."""
