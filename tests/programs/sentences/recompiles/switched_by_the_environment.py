"""A debugging switch is read from the environment in every call."""

import os

import torch


@torch.compile(backend="eager")
def normalize(x, eps):
    mode = os.environ.get("NORM", "l2")
    scale = x.abs().sum(-1, keepdim=True) if mode == "l1" else x.norm(dim=-1, keepdim=True)
    return x / (scale + eps)


torch.manual_seed(0)
x = torch.randn(3, 4)
for mode in ("l2", "l1", "l2"):
    os.environ["NORM"] = mode
    print(mode, normalize(x, 1e-5).sum().item())

# function: normalize
# compiles: 2
# over: no
# next: os.environ.update(NORM="max"), normalize(x, 1e-5)
# best: none
