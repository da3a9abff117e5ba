"""Write facts from outside a program: run it recorded, or import its TORCH_TRACE logs. Never imports torch."""
