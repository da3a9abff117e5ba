"""Functions of the program that torch calls while it compiles, besides backends."""

import sys

import torch
import torch._inductor.config
from torch._inductor.lowering import lowerings, register_lowering
from torch.utils._pytree import tree_map


@torch.library.custom_op("called::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def helper(x):
    return torch.empty_like(x)  #: helper


@doubled.register_fake
def fake(x):
    return helper(x)  #: fake


def uses_operator(x):
    y = doubled(x)
    return y + 1  #: after_operator


@torch.compiler.allow_in_graph
def opaque(x):
    return x.sin()  #: opaque


def uses_opaque(x):
    return opaque(x) + 1


@torch._dynamo.nonstrict_trace
def unstrict(x):
    return x.cos()  #: unstrict


def uses_unstrict(x):
    return unstrict(x) + 1


class Scaled(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(tensors, meta, size, stride):
        return Scaled(tensors["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        args = tree_map(lambda each: each.inner * 3 if isinstance(each, Scaled) else each, args)
        return func(*args, **(kwargs or {}))  #: dispatch


def uses_subclass(s):
    return s * 2


def custom_pass(graph):
    return graph.lint()  #: custom_pass


def lowers(x):
    return lowerings[torch.ops.aten.mul.Tensor](x, 2)  #: lowering


def consults(x):
    torch._dynamo.comptime.comptime(looks)
    return x + 1


def looks(ctx):
    ctx.print_graph()  #: comptime


def printing(module, inputs):
    print(module.code, torch._guards.TracingContext.get().fake_mode.shape_env.guards)
    return module.forward


if __name__ == "__main__":
    what = sys.argv[1]
    x = torch.ones(3)
    if what == "inductor":
        torch._inductor.config.force_disable_caches = True
        torch._inductor.config.post_grad_custom_pre_pass = custom_pass
        register_lowering(torch.ops.called.doubled.default)(lowers)
        torch.compile(uses_operator)(x)
    elif what == "unstrict":
        torch.compile(uses_unstrict, backend="aot_eager")(x)
    elif what == "dispatch":
        torch.compile(uses_subclass, backend="aot_eager")(Scaled(x))
    else:
        compiled = {"fake": uses_operator, "opaque": uses_opaque, "comptime": consults}[what]
        torch.compile(compiled, backend=printing, dynamic=True)(x)
        print(dict(torch._dynamo.utils.counters), flush=True)
