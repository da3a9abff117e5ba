"""Branches on tensors, and branches that are none of Dynamo's trouble."""

import functools

import torch


@torch.compile(backend="eager")
def plain(x):
    y = x * 2
    if y.sum() > 0:  # breaks
        y = y + 1
    return y


@torch.compile(backend="eager")
def negated(x):
    if not (x > 0).any():  # breaks
        x = x - 1
    return x * 2


@torch.compile(backend="eager")
def ternary(x):
    y = x + 1
    return y if y.mean() > 0 else -y  # breaks


@torch.compile(backend="eager")
def first_of_two(x):
    y = x * 3
    if y.max() > 1 and x.shape[0] > 2:  # breaks
        y = y - 1
    return y


@torch.compile(backend="eager")
def loop(x):
    y = x + 1
    while y.sum() < 100:  # breaks
        y = y * 2
    return y


@torch.compile(backend="eager")
def two_in_a_row(x):
    if x.sum() > 0:  # breaks
        x = x + 1
    if x.mean() > 0:  # breaks
        x = x * 2
    return x


@torch.compile(backend="eager")
def on_shapes(x):
    if x.shape[0] > 2 and x.dim() == 2:
        x = x + 1
    for i in range(x.size(0)):
        x = x + i
    return x if x.dtype == torch.float32 else x.float()


@torch.compile(backend="eager")
def on_what_it_is(x, mask=None):
    if mask is not None:
        x = x.masked_fill(mask, 0.0)
    if isinstance(x, torch.Tensor):
        x = x + 1
    assert x.sum() > -1e9, "never"
    return x


@torch.compile(backend="eager")
def while_compiling(x):
    if not torch.compiler.is_compiling():
        print("eager", x.sum().item())
    return x * 2


@torch.compile(backend="eager")
def chosen_by_torch(x):
    y = torch.where(x.sum() > 0, x + 1, x - 1)
    return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (y,))


DEBUG = False


@torch.compile(backend="eager")
def switched_off(x):
    if DEBUG:
        print("x", x)
    return x * 2


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        if y.norm() > 1:  # breaks
            y = y / y.norm()
        return self.finish(y)

    def finish(self, y):
        if torch.isnan(y).any():  # breaks
            y = torch.zeros_like(y)
        return y


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block() for _ in range(2)])
        self.tail = torch.nn.Sequential(torch.nn.ReLU(), Tail())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.tail(x)


class Block(torch.nn.Module):
    def forward(self, x):
        return x * x.sum().item()  # breaks


class Tail(torch.nn.Module):
    def forward(self, x):
        print("tail")  # breaks
        return x + 1


def doubled(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        return function(self, *args, **kwargs) * 2

    return wrapper


class Decorated(torch.nn.Module):
    @doubled
    def forward(self, x, scale=None):
        if scale is not None:
            x = x * scale
        if x.min() > 5:  # breaks
            x = x - 1
        return x


def main():
    x = torch.ones(4, 4)
    for function in (
        plain,
        negated,
        ternary,
        first_of_two,
        loop,
        two_in_a_row,
        on_shapes,
        on_what_it_is,
        while_compiling,
        chosen_by_torch,
        switched_off,
    ):
        function(x)
    with torch.no_grad():
        torch.compile(Gate(), backend="eager")(x)
        torch.compile(Decorated(), backend="eager")(x)
        stack = Stack()
        stack.compile(backend="eager")
        stack(x)


if __name__ == "__main__":
    main()
