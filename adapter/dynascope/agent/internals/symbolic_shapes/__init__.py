"""`torch.fx.experimental.symbolic_shapes`: symbols, ranges, specialisations, constraints."""
