"""`torch._dynamo.codegen`: how the bytecode around a graph is generated."""
