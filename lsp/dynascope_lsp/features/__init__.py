"""Serve LSP's features, one module each, declared by `@feature` of `dynascope_lsp.registry`."""
