"""The language server: Dynamo's decisions on the source lines. Never imports torch."""
