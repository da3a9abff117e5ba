"""Name the stages of a forward with a context manager that keeps a trail of them."""

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

trail: list[str] = []


@contextlib.contextmanager
def stage(name: str, verbose: bool) -> Iterator[None]:
    trail.append(name)
    if verbose:
        print("stage", name)
    yield


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(4, 3), nn.Linear(3, 4)

    def forward(self, inputs: torch.Tensor, verbose: bool) -> torch.Tensor:
        with stage("encode", verbose):
            code = self.encode(inputs).relu()
        with stage("decode", verbose):
            return self.decode(code)


torch.manual_seed(0)
net = torch.compile(Net())
for verbose in (True, True, False):
    output = net(torch.randn(2, 4), verbose)
    print(round(output.sum().item(), 4), len(trail))
# breaks: 16
# compiles: 0
# remedy: -15 && -16 && +36 -> if verbose: print(*(f"stage {name}" for name in trail[-2:]), sep="\n") -> breaks none
# remedy: +32 -> torch._dynamo.config.ignore_logging_functions.add(print) -> breaks none -> silent
