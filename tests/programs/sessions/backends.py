"""Backends of the program's own: a function, one under AOTAutograd, an object."""

import sys

import torch
from torch._dynamo.backends.common import aot_autograd


def passes(module):
    return len(module.graph.nodes)  #: pass


def compiler(module, example_inputs):
    passes(module)
    return module.forward  #: compiler


class Backend:
    def __call__(self, module, example_inputs):
        return module  #: object


@torch.library.custom_op("tests::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def fake(x):
    return torch.empty_like(x)  #: fake


def model(x):
    y = doubled(x)
    return y + 1  #: model


if __name__ == "__main__":
    every = compiler, aot_autograd(fw_compiler=compiler), Backend()
    for backend in every if len(sys.argv) == 1 else every[2:]:
        torch._dynamo.reset()
        torch.compile(model, backend=backend)(torch.ones(2))
        print("compiled", flush=True)
