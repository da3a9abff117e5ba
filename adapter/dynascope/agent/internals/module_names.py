"""Names of Dynamo's modules, for those who wait for their import: this one imports nothing."""

DYNAMO = "torch._dynamo"
COMPILED_AUTOGRAD = "torch._dynamo.compiled_autograd"
