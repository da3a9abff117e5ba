"""Options from a table, set one after another."""

import torch

OPTIONS = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
for option, value in OPTIONS.items():
    setattr(torch._dynamo.config, option, value)


@torch.compile(backend="eager")
def positive(x):
    kept = x[x > 0]
    return kept.sum().item(), x.nonzero()


if __name__ == "__main__":
    positive(torch.ones(3))
