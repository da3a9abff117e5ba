"""Serve texts that a client can open: graphs, generated code, disassembly."""
