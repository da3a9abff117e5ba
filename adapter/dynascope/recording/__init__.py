"""Where facts come from, seen from outside the program: running one recorded, and importing a TORCH_TRACE. Never torch."""
