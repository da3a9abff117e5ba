"""The language server: what Dynamo decided, on the source lines. Never imports torch."""
