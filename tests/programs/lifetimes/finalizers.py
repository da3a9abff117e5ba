"""Programs whose objects say when they are finalized."""

import atexit
import gc
import weakref

import torch


class Loud:
    """Says when it is finalized."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scale = len(name)

    def __del__(self) -> None:
        print("finalized", self.name)


def program_order_of_two_arguments() -> None:
    @torch.compile(backend="eager")
    def f(x, a, b):
        return x * a.scale + b.scale

    print(f(torch.ones(2), Loud("one"), Loud("three")).sum().item())
    print("called")
    a, b = Loud("first"), Loud("second")
    print(f(torch.ones(3), a, b).sum().item())
    del b
    print("then")
    del a
    print("end")


def program_finalize_and_exit() -> None:
    class Owner:
        scale = 3

    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    at_exit, dropped = Owner(), Owner()
    for name, owner in (("at exit", at_exit), ("dropped", dropped)):
        weakref.finalize(owner, print, "finalize", name)
        f(torch.ones(2), owner)
    del owner
    atexit.register(print, "atexit")
    globals()["_at_exit"] = at_exit
    del dropped
    print("end")


def program_dropped_at_a_graph_break() -> None:
    @torch.compile(backend="eager")
    def f(x, owners):
        y = x * owners[-1].scale
        print("break")
        owners.pop()
        torch._dynamo.graph_break()
        print("after")
        return y + len(owners)

    owners = [Loud("a"), Loud("bb")]
    print(f(torch.ones(2), owners).sum().item())
    print("end")


def program_held_by_a_closure() -> None:
    def make(owner):
        @torch.compile(backend="eager")
        def f(x):
            return x * owner.scale

        return f

    for name in ("a", "bb", "ccc"):
        f = make(Loud(name))
        print(f(torch.ones(2)).sum().item())
        f = None
        print("dropped")


def program_list_of_arguments() -> None:
    @torch.compile(backend="eager")
    def f(x, owners):
        return x + sum(owner.scale for owner in owners)

    owners = [Loud("a"), Loud("bb"), Loud("ccc")]
    for _ in range(3):
        print(f(torch.ones(2), owners).sum().item())
        owners.pop(0)
    print("end")


def program_in_a_cycle() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    owner = Loud("cycle")
    owner.itself = owner
    print(f(torch.ones(2), owner).sum().item())
    del owner
    print("dropped")
    gc.collect()
    print("collected")


def program_made_in_traced_code() -> None:
    class Quiet:
        def __init__(self, x):
            self.x = x

    @torch.compile(backend="eager")
    def f(x, kept):
        made = Quiet(x + 1)
        kept.append(made)
        return made.x * 2

    kept: list = []
    print(f(torch.ones(2), kept).sum().item())
    weakref.finalize(kept[0], print, "finalized")
    kept.clear()
    print("end")


def program_resurrected() -> None:
    saved: list = []

    class Stubborn:
        scale = 2

        def __del__(self):
            print("resurrected", len(saved))
            saved.append(self)

    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    owner = Stubborn()
    print(f(torch.ones(2), owner).sum().item())
    del owner
    print(len(saved), f(torch.ones(2), saved[0]).sum().item())
    saved.clear()
    print("end", len(saved))


def program_default_argument_of_a_callee() -> None:
    def make():
        def callee(x, owner=Loud("default")):  # noqa: B008  # the default is what is looked at
            return x * owner.scale

        return torch.compile(lambda x: callee(x) + 1, backend="eager")

    f = make()
    print(f(torch.ones(2)).sum().item())
    del f
    print("dropped")


def program_order_with_inductor() -> None:
    @torch.compile
    def f(x, a, b):
        return (x * a.scale + b.scale).sin()

    for size in (4, 6, 8):
        print(round(f(torch.ones(size), Loud("one"), Loud("three")).sum().item(), 3))
        print("called")


def program_dropped_at_a_break_with_inductor() -> None:
    @torch.compile
    def f(x, owners):
        y = (x * owners[-1].scale).cos()
        owners.pop()
        torch._dynamo.graph_break()
        return y + len(owners)

    owners = [Loud("a"), Loud("bb"), Loud("ccc")]
    for _ in range(3):
        print(round(f(torch.ones(4), owners).sum().item(), 3))
    print("end")
