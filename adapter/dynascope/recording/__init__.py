"""Where facts come from, seen from outside a program: running it recorded, importing a TORCH_TRACE. Never torch."""
