"""A function in the body of each kind of higher-order op and transform that Dynamo captures."""

from __future__ import annotations

import torch
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint


def body(x):
    y = x * 2  #: body
    return y.sin()


def other(x):
    return x + 1


def calls_body(x):
    return body(x) + 3


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return body(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def in_cond(x):
    return torch.cond(x.sum() > 0, body, other, (x,)) + 1


def in_nested_cond(x):
    return torch.cond(x.sum() > 0, calls_body, other, (x,)) + 1


def in_while_loop(x):
    return while_loop(lambda i, t: i < 1, lambda i, t: (i + 1, body(t)), (torch.tensor(0), x))[1]


def in_checkpoint(x):
    return checkpoint(body, x, use_reentrant=False) + 1


def in_vmap(x):
    return torch.vmap(body)(x) + 1


def in_grad(x):
    return torch.func.grad(lambda t: body(t).sum())(x) + 1


def in_function(x):
    return Function.apply(x) + 1


def of_resume_function(x):
    torch._dynamo.graph_break()
    return in_cond(x) + 1
