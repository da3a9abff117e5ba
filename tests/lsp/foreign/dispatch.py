"""Dicts of callables, registries, getattr, operators, partials."""

import functools
import operator

import torch
import torch.nn.functional as F


def noisy(x):
    print("noisy")
    return x


def count(x):
    return x.sum().item()  # breaks


ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "noisy": noisy}
REGISTRY = {}


def register(name):
    def inner(fn):
        REGISTRY[name] = fn
        return fn

    return inner


@register("scale")
def scale(x, by=2):
    return x * by


@register("peek")
def peek(x):
    print(x.max().item())  # breaks
    return x


@torch.compile(backend="eager")
def run(x, name="gelu"):
    x = ACTIVATIONS[name](x)
    x = REGISTRY["scale"](x)
    x = getattr(torch, "sin")(x)
    x = functools.reduce(operator.add, [x, x])
    x = functools.partial(scale, by=3)(x)
    return list(map(lambda t: t + 1, [x]))[0]


@torch.compile(backend="eager")
def applied(x):
    handlers = [scale, count]
    for handle in handlers:
        y = handle(x)
    ops = (lambda t: t + 1, lambda t: t * 2)
    for op in ops:
        x = op(x)
    chosen = scale if x.shape[0] > 100 else peek
    return chosen(x), y


if __name__ == "__main__":
    run(torch.ones(3))
    applied(torch.ones(3))
