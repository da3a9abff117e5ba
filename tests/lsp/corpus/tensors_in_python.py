"""A tensor's values read into Python, and what only looks like it."""

import math

import torch
import torch.nn.functional as F


@torch.compile(backend="eager")
def item(x):
    y = x * 2
    n = y.sum().item()  # breaks
    return y * n


@torch.compile(backend="eager")
def conversions(x):
    a = float(x.max())  # breaks
    b = int(x.argmax())  # breaks
    return x * a + b


@torch.compile(backend="eager")
def item_in_a_helper(x):
    return scaled(x) + 1


def scaled(x):
    return x * x.mean().item()  # breaks


@torch.compile(backend="eager")
def tolist(x):
    y = x + 1
    values = y.tolist()  # breaks
    return y * len(values)


@torch.compile(backend="eager")
def not_tensors(x):
    n = int(x.shape[0])
    m = float(n)
    scale = math.sqrt(x.size(1))
    return x * n * m * scale


@torch.compile(backend="eager")
def math_of_a_tensor(x):
    return x * math.sqrt(x.abs().sum())  # breaks


@torch.compile(backend="eager")
def shapes(x):
    y = torch.nonzero(x > 0)  # breaks
    z = x[x > 0]  # breaks
    return y.sum() + z.sum()


@torch.compile(backend="eager")
def shapes_by_method(x):
    u = x.unique()  # breaks
    return u.sum() + torch.masked_select(x, x > 1).sum()  # breaks


@torch.compile(backend="eager")
def masks_that_keep_the_shape(x):
    y = x.masked_fill(x > 0, 0.0)
    y[y < 0] = 1.0
    return torch.where(x > 1, y, F.relu(x))


@torch.compile(backend="eager")
def comparisons(x):
    same = torch.equal(x, x)  # breaks
    return x + same


@torch.compile(backend="eager")
def comparisons_as_tensors(x):
    return x.eq(x).all() + torch.isclose(x, x).sum()


def main():
    x = torch.ones(4, 4)
    for function in (
        item,
        conversions,
        item_in_a_helper,
        tolist,
        not_tensors,
        math_of_a_tensor,
        shapes,
        shapes_by_method,
        masks_that_keep_the_shape,
        comparisons,
        comparisons_as_tensors,
    ):
        function(x)


if __name__ == "__main__":
    main()
