"""Functions of the program that Dynamo calls while it traces, once before a line and once after it."""

import torch
from torch.utils._pytree import tree_map_only

calls = []
"""The functions that have been called."""


@torch.library.custom_op("called_again::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    calls.append("fake kernel")
    return torch.empty_like(x)


@torch.library.custom_op("called_again::kept", mutates_args=())
def kept(x: torch.Tensor) -> torch.Tensor:
    return x * 2


kept.register_fake(torch.empty_like)


def keep(ctx, inputs, output):
    calls.append("setup context")
    ctx.count = len(inputs)


kept.register_autograd(lambda context, grad: grad * 2, setup_context=keep)
library = torch.library.Library("called_again", "FRAGMENT")
library.define("thrice(Tensor x) -> Tensor")


def thrice_meta(x):
    calls.append("meta kernel")
    return torch.empty_like(x)


library.impl("thrice", lambda x: x * 3, "CPU")
library.impl("thrice", thrice_meta, "Meta")


@torch._dynamo.allow_in_graph
def allowed(x):
    calls.append("allowed in graph")
    return x + 5


@torch._dynamo.nonstrict_trace
def nonstrict(x):
    calls.append("nonstrict")
    return x + 6


@torch._dynamo.assume_constant_result
def number():
    calls.append("constant")
    return 3


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __tensor_flatten__(self):
        calls.append("flatten")
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(tensors, meta, size, stride):
        return Wrapped(tensors["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map_only(Wrapped, lambda each: each.inner, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, Wrapped, func(*args, **kwargs))


class Counted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append("torch function")
        return super().__torch_function__(func, types, args, kwargs or {})


CALLED = {
    "_": twice,
    "keep": kept,
    "called_again::thrice": torch.ops.called_again.thrice,
    "allowed": allowed,
    "nonstrict": nonstrict,
    "number": lambda x: x * number(),
    "Wrapped.__tensor_flatten__": lambda x: x + 1,
    "Counted.__torch_function__": lambda x: x + 2,
}
ARGUMENTS = {
    "keep": torch.Tensor.requires_grad_,
    "Wrapped.__tensor_flatten__": Wrapped,
    "Counted.__torch_function__": lambda x: x.as_subclass(Counted),
}


def function(x, called):
    y = called(x)
    z = y + 1  #: here
    return called(z)


def main(name):
    x = ARGUMENTS.get(name, lambda x: x)(torch.ones(4))
    torch.compile(function, backend="eager")(x, CALLED[name])
