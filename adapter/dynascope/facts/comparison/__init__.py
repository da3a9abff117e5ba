"""Compare two compiles of a function: `trail` is what was recorded, `traced` what is compared."""
