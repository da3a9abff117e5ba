"""`torch._dynamo.comptime`: its breakpoint and its context."""
