"""One file per feature of the protocol; each declares itself with `@feature` (see `dynascope_lsp.registry`)."""
