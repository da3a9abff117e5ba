"""Compile a function for each kind of callback: what torch and Dynamo call of a program while they trace.

Each case calls its callbacks on both sides of a line to stop at, and is compiled twice. Named cases run, or all.
"""

import functools
import sys
import warnings
from contextlib import nullcontext
from dataclasses import dataclass

import torch
import torch._inductor.config
from functorch.compile import default_partition
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.comptime import comptime
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.utils import parametrize
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import register_pytree_node, tree_map, tree_map_only
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

CASES = {}
ask = None
"""Calls the callback of the case that is compiled; questions at the stop use it."""


def case(function):
    CASES[function.__name__] = function
    return function


def stopping(y):
    y = y * 1  #: conditional
    y = y * 2  #: logged
    return y + 1  #: here


@torch.library.custom_op("callbacks::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2  #: in_operator


@twice.register_fake
def _(x):
    return torch.empty_like(x)  #: in_fake_kernel


def keep(context, inputs, output):
    context.count = len(inputs)  #: in_setup_context


twice.register_autograd(lambda context, grad: grad * 2, setup_context=keep)


@case
def fake_kernel(x, k):
    return twice(stopping(twice(x + k)))


library = torch.library.Library("callbacks", "FRAGMENT")
library.define("thrice(Tensor x) -> Tensor")


def thrice_meta(x):
    return torch.empty_like(x)  #: in_meta_kernel


library.impl("thrice", lambda x: x * 3, "CPU")
library.impl("thrice", thrice_meta, "Meta")


@case
def meta_kernel(x, k):
    return torch.ops.callbacks.thrice(stopping(torch.ops.callbacks.thrice(x + k)))


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], None  #: in_flatten

    @staticmethod
    def __tensor_unflatten__(tensors, meta, size, stride):
        return Wrapped(tensors["inner"])  #: in_unflatten

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map_only(Wrapped, lambda each: each.inner, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, Wrapped, func(*args, **kwargs))  #: in_torch_dispatch


@case
def torch_dispatch(x, k):
    return stopping(x + k) * 3


class Counted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})  #: in_torch_function


@case
def torch_function(x, k):
    return stopping(x + k) * 3


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))  #: in_function_mode


@case
def function_mode(x, k):
    with Mode():
        y = x + k
        y = stopping(y)
    return y * 3


@torch._dynamo.allow_in_graph
def allowed(x):
    return x + 5  #: in_allowed


@case
def allow_in_graph(x, k):
    return allowed(stopping(allowed(x + k)))


@torch._dynamo.nonstrict_trace
def nonstrict(x):
    return x + 6  #: in_nonstrict


@case
def nonstrict_trace(x, k):
    return nonstrict(stopping(nonstrict(x + k)))


@torch._dynamo.assume_constant_result
def number():
    return 3  #: in_constant


@case
def assume_constant_result(x, k):
    return stopping(x + k + number()) * number()


def looks(ctx):
    ctx.get_local("y")  #: in_comptime


@case
def comptime_callback(x, k):
    y = x + k
    comptime(looks)
    y = stopping(y)
    comptime(looks)
    return y


def forward_hook(module, args, output):
    return output + 1  #: in_forward_hook


layer = torch.nn.Linear(4, 4)
layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
layer.register_forward_hook(forward_hook)


@case
def module_hooks(x, k):
    return layer(stopping(layer(x + k)))


def scale_gradient(gradient):
    return gradient * 2  #: in_tensor_hook


@case
def tensor_hook(x, k):
    y = layer.weight.sum() * x + k
    y.register_hook(scale_gradient)
    y = stopping(y)
    y.register_hook(scale_gradient)
    return y


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)  #: in_function_forward
        return x**3

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors  #: in_function_backward
        return gradient * 3 * x * x


@case
def autograd_function(x, k):
    return Cube.apply(stopping(Cube.apply(x * layer.weight.sum() + k)))


class Object:
    scale = 2

    @property
    def twofold(self):
        return self.scale * 2  #: in_property

    def __getattr__(self, name):
        if name.startswith("made_"):
            return 5  #: in_getattr
        raise AttributeError(name)

    def __len__(self):
        return 3  #: in_len

    def __bool__(self):
        return True  #: in_bool

    def __iter__(self):
        yield 1  #: in_iter
        yield 2

    def __enter__(self):
        self.entered = 1  #: in_enter
        return self

    def __exit__(self, *error):
        self.entered = 2  #: in_exit

    def __eq__(self, other):
        return self is other  #: in_eq

    def __hash__(self):
        return 7  #: in_hash

    def __deepcopy__(self, memo):
        return self  #: in_deepcopy

    def __repr__(self):
        return "Object"  #: in_repr


thing = Object()


@case
def properties(x, k):
    return stopping(x + k * thing.twofold) + thing.twofold


@case
def getattr_method(x, k):
    return stopping(x + k * thing.made_up) + thing.made_up


@case
def special_methods(x, k):
    y = x + k * len(thing) if thing else x
    for each in thing:
        y = y + each
    y = stopping(y)
    return y * len(thing)


@case
def context_manager(x, k):
    with thing as entered:
        y = stopping(x + k)
    return y + entered.entered


class Descriptor:
    def __get__(self, owner, kind):
        return 4  #: in_descriptor


class Described:
    value = Descriptor()


described = Described()


@case
def descriptor(x, k):
    return stopping(x + k * described.value) + described.value


TABLE = {thing: 2}


@case
def hashed_keys(x, k):
    return stopping(x + k * TABLE[thing]) + TABLE[thing]


class Pair:
    def __init__(self, one, two):
        self.one, self.two = one, two


def flatten_pair(pair):
    return (pair.one, pair.two), None  #: in_pytree_flatten


def unflatten_pair(children, _):
    return Pair(*children)  #: in_pytree_unflatten


register_pytree_node(Pair, flatten_pair, unflatten_pair)


@case
def pytree_node(x, k):
    pair = tree_map(lambda each: each * 2, Pair(x + k, x))
    return stopping(pair.one) + tree_map(lambda each: each * 2, pair).two


def pack(tensor):
    return tensor * 1  #: in_pack


def unpack(tensor):
    return tensor * 1  #: in_unpack


@case
def saved_tensor_hooks(x, k):
    with saved_tensors_hooks(pack, unpack):
        y = (x * layer.weight.sum() + k).sin()
    return stopping(y)


def region(x):
    return x.sin() * 2  #: in_region


@case
def checkpointed(x, k):
    return stopping(checkpoint(region, x + k, use_reentrant=False))


@case
def conditional(x, k):
    return stopping(torch.cond(x.sum() > 0, region, lambda each: each.cos(), (x + k,)))


@case
def vmapped(x, k):
    return stopping(torch.vmap(region)(x + k))


def backend(module, inputs):
    assert module.code  #: in_backend
    return module.forward


@case
def custom_backend(x, k):
    return stopping(x + k)


def guard_filter(entries):
    return [True for _ in entries]  #: in_guard_filter


@case
def filtered_guards(x, k):
    return stopping(x + k)


@dataclass(frozen=True)
class Settings:
    rate: int = 2

    def __post_init__(self):
        assert self.rate  #: in_post_init


@case
def frozen_settings(x, k):
    return stopping(x + k * Settings(3).rate)


def show_warning(*args, **kwargs):
    assert args  #: in_warning


@case
def warning_shown(x, k):
    y = stopping(x + k)
    warnings.warn("as ordered", stacklevel=1)
    return y


def begins(*_):
    assert CASES  #: in_compile_start


@case
def compile_callbacks(x, k):
    return stopping(x + k)


def custom_pass(graph):
    return graph.lint()  #: in_custom_pass


@case
def inductor_pass(x, k):
    return stopping(twice(x + k))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x  #: in_bare_forward

    @staticmethod
    def setup_context(context, inputs, output):
        context.save_for_backward(*inputs)  #: in_function_setup

    @staticmethod
    def vmap(info, dimensions, x):
        return Square.apply(x), dimensions[0]  #: in_function_vmap

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        return gradient * 2 * x  #: in_bare_backward


@case
def function_setup(x, k):
    return Square.apply(stopping(Square.apply(x * layer.weight.sum() + k)))


@twice.register_vmap
def batched_twice(info, dimensions, x):
    return twice(x), dimensions[0]  #: in_operator_vmap


@case
def operator_vmap(x, k):
    return stopping(torch.vmap(twice)(x + k))


def loss(x):
    return (x * x).sum()  #: in_transformed


@case
def function_transforms(x, k):
    y = stopping(torch.func.grad(loss)(x + k))
    return y + torch.func.jvp(loss, (y,), (x,))[1]


class Watching(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))  #: in_dispatch_mode


@case
def dispatch_mode(x, k):
    return stopping(x + k) * 3


class Symmetric(torch.nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).T  #: in_parametrization

    def right_inverse(self, weight):
        return weight.triu()  #: in_right_inverse


symmetric = torch.nn.Linear(4, 4)
parametrize.register_parametrization(symmetric, "weight", Symmetric())


@case
def parametrized(x, k):
    return symmetric(stopping(symmetric(x + k)))


def accumulated(parameter):
    assert parameter.grad is not None  #: in_accumulated


def after_backward(module, gradients, of_outputs):
    return None  #: in_backward_hook


hooked = torch.nn.Linear(4, 4)
hooked.weight.register_post_accumulate_grad_hook(accumulated)
hooked.register_full_backward_hook(after_backward)


@case
def gradient_hooks(x, k):
    return stopping(hooked(x + k))


def compile_forward(module, inputs):
    return module.forward  #: in_forward_compiler


def compile_backward(module, inputs):
    return module.forward  #: in_backward_compiler


def partition(module, inputs, **named):
    return default_partition(module, inputs, **named)  #: in_partition


@case
def aot_compilers(x, k):
    return stopping(x * layer.weight.sum() + k).sin()


def policy(context, operator, *args, **kwargs):
    return CheckpointPolicy.PREFER_RECOMPUTE  #: in_policy


contexts = functools.partial(create_selective_checkpoint_contexts, policy)


@case
def checkpoint_policy(x, k):
    y = checkpoint(region, x * layer.weight.sum() + k, use_reentrant=False, context_fn=contexts)
    return stopping(y)


class Checked(type):
    def __instancecheck__(cls, value):
        return value is thing  #: in_instance_check


class Likeness(metaclass=Checked):
    pass


@case
def instance_check(x, k):
    y = stopping(x + k) if isinstance(thing, Likeness) else x
    return y + 1 if isinstance(thing, Likeness) else y


@case
def function_vmap(x, k):
    return stopping(torch.vmap(Square.apply)(x + k))


ASKS = {
    "fake_kernel": lambda y: twice(y),
    "meta_kernel": lambda y: torch.ops.callbacks.thrice(y),
    "allow_in_graph": lambda y: allowed(y),
    "nonstrict_trace": lambda y: nonstrict(y),
    "assume_constant_result": lambda y: number(),
    "module_hooks": lambda y: layer(y),
    "autograd_function": lambda y: Cube.apply(y),
    "properties": lambda y: thing.twofold,
    "getattr_method": lambda y: thing.made_up,
    "special_methods": lambda y: [len(thing), bool(thing), list(thing)],
    "descriptor": lambda y: described.value,
    "hashed_keys": lambda y: thing in TABLE,
    "pytree_node": lambda y: tree_map(lambda each: each * 2, Pair(y, y)).one,
    "saved_tensor_hooks": lambda y: unpack(pack(y)),
    "frozen_settings": lambda y: Settings(4).rate,
    "inductor_pass": lambda y: twice(y),
    "function_setup": lambda y: Square.apply(y),
    "function_vmap": lambda y: torch.vmap(Square.apply)(y),
    "operator_vmap": lambda y: torch.vmap(twice)(y),
    "function_transforms": lambda y: torch.func.grad(loss)(y),
    "parametrized": lambda y: symmetric(y),
    "instance_check": lambda y: isinstance(thing, Likeness),
}
AROUND = {"dispatch_mode": Watching}
ARGUMENTS = {"torch_dispatch": Wrapped, "torch_function": lambda x: x.as_subclass(Counted)}
OPTIONS = {
    "custom_backend": {"backend": backend},
    "filtered_guards": {"options": {"guard_filter_fn": guard_filter}},
    "inductor_pass": {"backend": "inductor"},
    "autograd_function": {"backend": "aot_eager"},
    "nonstrict_trace": {"backend": "aot_eager"},
    "function_setup": {"backend": "aot_eager"},
    "gradient_hooks": {"backend": "aot_eager"},
    "aot_compilers": {
        "backend": aot_autograd(fw_compiler=compile_forward, bw_compiler=compile_backward, partition_fn=partition)
    },
    "checkpoint_policy": {"backend": "aot_eager_decomp_partition"},
}


def compile_case(name):
    global ask
    torch._dynamo.reset()  #: begins
    ask = ASKS.get(name, lambda y: y * 2)
    compiled = torch.compile(CASES[name], **(OPTIONS.get(name) or {"backend": "eager"}))
    make = ARGUMENTS.get(name, lambda x: x)
    for k in (1, 2):
        x = make(torch.ones(4, requires_grad=True) if name == "autograd_function" else torch.ones(4))
        with AROUND.get(name, nullcontext)():
            result = compiled(x, k)  #: compiles
    total, expected = plain(result).sum(), plain(CASES[name](x, k)).sum()
    torch.testing.assert_close(total, expected)
    if total.requires_grad:
        total.backward()
    print(name, "done", flush=True)  #: done


def plain(tensor):
    return tensor.inner if isinstance(tensor, Wrapped) else tensor.as_subclass(torch.Tensor)


if __name__ == "__main__":
    torch.manual_seed(0)
    warnings.showwarning = show_warning
    warnings.simplefilter("always")
    torch._inductor.config.force_disable_caches = True
    torch._inductor.config.post_grad_custom_pre_pass = custom_pass
    torch._dynamo.callback.on_compile_start(begins)
    for each in sys.argv[1:] or CASES:
        compile_case(each)
