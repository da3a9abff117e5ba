"""What is known of an expression: its full name, the type of its tensor, its side effects."""
