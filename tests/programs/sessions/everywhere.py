"""A line at each place where Dynamo can meet it; a library's `layer` comes from the folder that is named."""

import sys

import torch


def plain(x):
    for i in range(2):
        y = x + i  #: plain
    return y


def callee(x):
    for i in range(2):
        y = x + i  #: callee
    return y


def calls(x):
    return callee(x) * 2


def breaks(x):
    torch._dynamo.graph_break()
    for i in range(2):
        y = x + i  #: breaks
    return y


def numbers(x):
    for i in range(2):
        y = x + i  #: numbers
        yield y


def consumes(x):
    return sum(numbers(x))


def hook(x):
    for i in range(2):
        y = x + i  #: hook
    return y


def main(folder):
    sys.path.append(folder)
    from everywhere_library import layer

    def calls_library(x):
        return layer(x) * 2

    for function in (plain, calls_library, calls, breaks, consumes):
        torch.compile(function, backend="eager")(torch.ones(3))
    y = torch.ones(3, requires_grad=True) * 2
    y.register_hook(hook)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        y.sum().backward()


if __name__ == "__main__":
    main(sys.argv[1])
