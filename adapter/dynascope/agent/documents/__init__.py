"""Text that a client can open: graphs, generated code, disassembly."""
