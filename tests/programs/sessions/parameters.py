"""Functions with parameters of every kind, under dynamic shapes."""

import torch


def scaled(x, /, factor, *rest, bias=None, **options):
    return x * factor + len(rest)  #: inlined


class Layer(torch.nn.Module):
    def forward(self, x, width, names):
        captured = lambda: x + width  # noqa: E731
        y = scaled(captured(), 3, 1, 2, bias=x, mode="up")  #: call
        return y, names


def run(count):
    layer = torch.compile(Layer(), backend="eager", dynamic=True)
    for _ in range(count):
        layer(torch.ones(5, 16), 4, ["a"])


if __name__ == "__main__":
    run(1)
