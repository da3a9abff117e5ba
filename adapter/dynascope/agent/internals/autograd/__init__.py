"""`torch._dynamo.compiled_autograd` and the autograd graph."""
