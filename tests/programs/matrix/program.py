"""One function for each place where Dynamo can meet a breakpoint. The library's `layer` is put in by the test."""

from __future__ import annotations

import torch

LIMIT = 3
SEEN: list[int] = []


def in_user_file(x):
    for i in range(3):
        y = x + i  #: user_file
    return y


def callee(x):
    for i in range(3):
        y = x + i  #: inlined
    return y


def calls(x):
    return callee(x) * 2


def calls_library(x):
    return layer(x) * 2  # noqa: F821


def breaks(x):
    x = x * 2
    torch._dynamo.graph_break()
    for i in range(3):
        y = x + i  #: resume_function
    return y


def numbers(x):
    for i in range(3):
        y = x + i  #: generator
        yield y


def consumes(x):
    total = x
    for number in numbers(x):
        total = total + number
    return total


def hook(gradient):
    for i in range(3):
        y = gradient + i  #: compiled_autograd
    return y


def backward(*shape):
    y = torch.ones(shape, requires_grad=True) * 2
    y.register_hook(hook)
    y.sum().backward()
