"""Breakpoints that are never hit, each for a reason of its own; the test writes the reasons down."""

import atexit
import contextlib
import functools
import importlib.util
import textwrap
from pathlib import Path

import torch

FAST = True
if not FAST:
    SCALE = 2  #: module_branch


def never_called(x):
    return x + 1  #: never_called


def branches(x):
    if not FAST:
        x = x * 2  #: branch
    return x + 1


def runs(x):
    if not FAST:
        x = x * 2  #: uncompiled_branch
    return x + 1


def conditional(x):
    return x + 1  #: condition


def counted(x):
    return x + 1  #: count


def conditional_run(x):
    return x + 1  #: uncompiled_condition


@torch._dynamo.disable
def disabled(x):
    if not FAST:
        x = x * 2  #: disabled_branch
    return x + 1


@torch._dynamo.disable
def disabled_uncalled(x):
    return x + 1  #: disabled_uncalled


def skipped(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
    if not FAST:
        x = x * 2  #: skipped_branch
    return x


def raising(x):
    y = x + 1
    if FAST:
        raise ValueError("no")
    return y * 2  #: after_raise


def failing(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2  #: after_failure


def inlined_in_vain(x):
    torch._dynamo.graph_break()
    return x * 2  #: after_failure_in_a_call


def raises_in_a_part(x):
    with torch._dynamo.error_on_graph_break(True):
        return inlined_in_vain(x)


class Exported(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1  #: after_a_failed_export
        return x - 1


@torch._dynamo.disable
def risky():
    raise ValueError("no")


def breaking(x):
    y = x + 1
    risky()
    return y * 2  #: after_break


def unresumed(x):
    y = x + 1
    y = y.sin() * 3
    try:
        torch._dynamo.graph_break()
    except TypeError:
        y = y * 2
    if not FAST:
        y = y * 3  #: after_unresumed_branch
    return y * 2  #: after_unresumed


class Model(torch.nn.Module):
    if not FAST:
        scale = 2  #: class_body

    def forward(self, x):
        return x + 1

    def unused(self, x):
        return x * 2  #: method


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) * 2  #: wrapper

    return wrapper


@doubled
def decorated(x):
    return x + 1  #: decorated


def outer_uncalled(x):
    def inner(y):
        return y * 2  #: nested_uncreated

    return inner(x)


def outer(x):
    def inner(y):
        return y * 2  #: nested_uncalled

    return x + 1 if FAST else inner(x)


key = lambda x: x * 2  # noqa: E731  #: one_lambda


def generator(x):
    yield x + 1  #: generator


def called_uncompiled(x):
    return x + 1  #: uncompiled


@torch.library.custom_op("never_hit::scaled", mutates_args=())
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@scaled.register_fake
def _(x):
    return torch.empty_like(x)  #: fake


def uses_operator(x):
    return torch.ops.never_hit.scaled(x)


def limited(x, n):
    if n > 8:
        x = x * 2  #: over_the_limit
    return x + n


def without_operations(x):
    if not FAST:
        x = x * 2  #: no_operations
    return x


@atexit.register
def at_exit():
    print("at exit")  #: at_exit


def attempt(function, *args, **options):
    try:
        torch.compile(function, backend="eager", **options)(*args)
    except (ValueError, torch._dynamo.exc.Unsupported):
        pass


def main():
    x = torch.ones(3)
    attempt(branches, x)
    runs(x)
    attempt(conditional, x)
    attempt(counted, x)
    conditional_run(x)
    disabled(x)
    attempt(skipped, x)
    attempt(raising, x)
    attempt(failing, x, fullgraph=True)
    attempt(raises_in_a_part, x)
    with contextlib.suppress(torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError):
        torch.export.export(Exported(), (x,), strict=True)
    attempt(breaking, x)
    attempt(unresumed, x)
    attempt(Model(), x)
    attempt(without_operations, x)
    attempt(outer, x)
    generator(x)
    called_uncompiled(x)
    attempt(uses_operator, x)
    torch._dynamo.config.recompile_limit = 2
    for n in (1, 2, 3, 9):
        torch.compile(limited, backend="eager", dynamic=False)(x, n)
    textwrap.dedent("  text")
    spec = importlib.util.spec_from_file_location("unlisted", Path(__file__).with_name("unlisted.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.called()


if __name__ == "__main__":
    main()
