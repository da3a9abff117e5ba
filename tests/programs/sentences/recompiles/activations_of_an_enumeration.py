"""An activation chosen by an enum, for each layer of a sweep."""

import enum

import torch


class Act(enum.Enum):
    RELU = "relu"
    GELU = "gelu"
    TANH = "tanh"
    SILU = "silu"


@torch.compile(backend="aot_eager")
def layer(x, w, act):
    h = x @ w
    if act is Act.RELU:
        return torch.relu(h)
    if act is Act.GELU:
        return torch.nn.functional.gelu(h)
    if act is Act.TANH:
        return torch.tanh(h)
    return torch.nn.functional.silu(h)


torch.manual_seed(0)
w = torch.randn(8, 8)
for n, act in zip((16, 16, 20, 24), Act, strict=True):
    x = torch.randn(n, 8)
    print(act.name, round(layer(x, w, act).sum().item(), 3))

# function: layer
# compiles: 4
# over: no
# next: layer(x, w, Act("relu")) + layer(torch.randn(9, 8)[:7], w, Act.RELU)[0]
# best: none
