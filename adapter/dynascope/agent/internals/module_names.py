"""Names of Dynamo's modules, for code that waits for their import: this module imports nothing."""

DYNAMO = "torch._dynamo"
COMPILED_AUTOGRAD = "torch._dynamo.compiled_autograd"
