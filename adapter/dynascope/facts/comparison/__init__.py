"""Compare two compiles of a function: `trail` has both what was recorded and what is compared."""
