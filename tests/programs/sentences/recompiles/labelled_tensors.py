"""A subclass of tensors carries the name of its channel."""

import torch


class Channel(torch.Tensor):
    """A tensor that knows what it was measured with."""


@torch.compile(backend="eager")
def standardize(x, eps):
    return (x - x.mean()) / (x.std() + eps)


torch.manual_seed(0)
raw = torch.randn(6)
for source in ("file", "sensor", "file", "sensor"):
    x = raw.as_subclass(Channel) if source == "sensor" else raw
    print(source, standardize(x, 1e-6).square().sum().item())

# function: standardize
# compiles: 2
# over: yes
# next: standardize((raw * 2).as_subclass(Channel), 1e-6)
# remedy: 19 -> print(source, standardize(x.as_subclass(torch.Tensor), 1e-6).square().sum().item())   -> compiles 1
# remedy: 10 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 2
