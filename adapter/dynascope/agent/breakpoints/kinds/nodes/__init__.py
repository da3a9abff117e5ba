"""Function breakpoints that name an operator."""
