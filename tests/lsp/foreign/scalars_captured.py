"""Every other way to set capture_scalar_outputs."""

import torch
import torch._dynamo.config as dynamo_config


def mean_of(x):
    return x * x.mean().item()


def norm_of(x):
    n = int(x.sum())
    return x / (n + 1)


if __name__ == "__main__":
    with torch._dynamo.config.patch({"capture_scalar_outputs": True}):
        torch.compile(mean_of, backend="eager")(torch.ones(3))
        torch.compile(norm_of, backend="eager")(torch.ones(3))
