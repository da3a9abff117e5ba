"""Backends of the program's own: a function, one under AOTAutograd, an object."""

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


def model(x):
    y = x * 2
    return y + 1  #: model


if __name__ == "__main__":
    for backend in (compiler, aot_autograd(fw_compiler=compiler), Backend()):
        torch._dynamo.reset()
        torch.compile(model, backend=backend)(torch.ones(2))
        print("compiled", flush=True)
