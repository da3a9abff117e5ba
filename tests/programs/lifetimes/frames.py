"""Programs with generators, closures, exceptions that hold frames, and context managers."""

import contextlib
import gc
import sys
import weakref

import torch


class Owner:
    def __init__(self, scale: float = 2.0) -> None:
        self.scale = scale


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_generator_dropped() -> None:
    def rows(owner, x):
        try:
            for n in range(4):
                yield x * n * owner.scale
        finally:
            print("generator closed")

    @torch.compile(backend="eager")
    def f(x):
        return x + 1

    owner = Owner()
    reference = weakref.ref(owner)
    made = rows(owner, torch.ones(2))
    del owner
    print(f(next(made)).sum().item(), f(next(made)).sum().item())
    del made
    print(life(reference))


def program_generator_in_traced_code() -> None:
    def rows(owner, x):
        for n in range(3):
            yield x * n * owner.scale

    @torch.compile(backend="eager")
    def f(x, owner):
        made = rows(owner, x)
        first = next(made)
        return first + sum(made)

    for size in (2, 3, 4):
        owner = Owner()
        reference = weakref.ref(owner)
        print(f(torch.ones(size), owner).sum().item())
        del owner
        print(life(reference))


def program_closure_replaced() -> None:
    def make(scale):
        owner = Owner(scale)

        def inner(x):
            return x * owner.scale

        return inner, weakref.ref(owner), weakref.ref(inner)

    @torch.compile(backend="eager")
    def f(x, inner):
        return inner(x) + 1

    for scale in (1.0, 2.0, 3.0):
        inner, owner, function = make(scale)
        print(f(torch.ones(2), inner).sum().item())
        del inner
        print(life(owner), life(function))


def program_exception_that_holds_a_frame() -> None:
    def fails(x, owner):
        raise ValueError(f"{owner.scale}")

    @torch.compile(backend="eager")
    def f(x, owner):
        y = x * owner.scale
        fails(y, owner)
        return y

    owner = Owner()
    reference = weakref.ref(owner)
    kept = None
    try:
        f(torch.ones(2), owner)
    except ValueError as error:
        kept = error
    del owner
    print(life(reference), repr(kept))
    kept = None
    print(life(reference))


def program_exception_caught_in_traced_code() -> None:
    @torch.compile(backend="eager")
    def f(x, table):
        try:
            return x * table["missing"].scale
        except KeyError:
            return x * table["there"].scale

    table = {"there": Owner()}
    reference = weakref.ref(table["there"])
    print(f(torch.ones(2), table).sum().item())
    table.clear()
    print(life(reference), sys.exc_info() == (None, None, None))


def program_traceback_walked() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        torch._dynamo.graph_break()
        raise RuntimeError(str(owner.scale))

    owner = Owner()
    reference = weakref.ref(owner)
    try:
        f(torch.ones(2), owner)
    except RuntimeError as error:
        names, entry = [], error.__traceback__
        while entry is not None:
            names.append(entry.tb_frame.f_code.co_name)
            entry = entry.tb_next
        print(names[0], len(names))
        del entry
    del owner
    print(life(reference))


def program_context_manager() -> None:
    @contextlib.contextmanager
    def scope(owner):
        print("enter")
        yield owner.scale
        print("exit")

    @torch.compile(backend="eager")
    def f(x, owner):
        with scope(owner) as scale:
            y = x * scale
        return y + 1

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(2), owner).sum().item())
    del owner
    print(life(reference))


def program_context_around_the_call() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        with torch.no_grad():
            return x * owner.scale

    with contextlib.ExitStack() as stack:
        owner = Owner()
        reference = weakref.ref(owner)
        stack.callback(print, "callback")
        for size in (2, 3):
            print(f(torch.ones(size, requires_grad=True), owner).requires_grad)
        del owner
        print(life(reference))


def program_locals_of_a_caller() -> None:
    def caller():
        owner = Owner()
        x = torch.ones(2)
        return f(x), weakref.ref(owner), weakref.ref(x)

    @torch.compile(backend="eager")
    def f(x):
        return x + 1

    for _ in range(2):
        _, owner, x = caller()
        print(life(owner), life(x))


def program_growing_garbage() -> None:
    """Make cycles in a loop and count what lives once they are collected."""
    living: weakref.WeakSet = weakref.WeakSet()

    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    for n in range(20):
        owner = Owner(float(n % 2))
        owner.itself = owner
        living.add(owner)
        f(torch.ones(2), owner)
    del owner
    gc.collect()
    print(len(living))


def program_generator_with_inductor() -> None:
    def rows(owner, x):
        for n in range(3):
            yield x * n * owner.scale

    @torch.compile
    def f(x, owner):
        return sum(rows(owner, x)).relu()

    owner = Owner()
    reference = weakref.ref(owner)
    for size in (4, 8):
        print(f(torch.ones(size), owner).sum().item())
    del owner
    print(life(reference))
