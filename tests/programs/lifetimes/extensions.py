"""Programs with custom operators, comptime, functions that Dynamo calls, modes, and code of their own in a trace."""

import dataclasses
import functools
import operator
import weakref

import torch
from torch._dynamo.comptime import comptime


class Owner:
    def __init__(self, scale: float = 2.0) -> None:
        self.scale = scale


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_custom_operator() -> None:
    @torch.library.custom_op("lifetimes::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    seen: list = []

    @scaled.register_fake
    def _(x, by):
        seen.append(weakref.ref(x))
        return torch.empty_like(x)

    @torch.compile(backend="eager")
    def f(x, owner):
        return scaled(x, owner.scale) + 1

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(2), owner).sum().item())
    del owner
    print(life(reference), len(seen) > 0, *{life(each) for each in seen})


def program_comptime_callback() -> None:
    seen: list = []

    def note(context):
        seen.append(sorted(context._i_will_not_complain_if_bc_breaks_InstructionTranslator().symbolic_locals)[:1])

    @torch.compile(backend="eager")
    def f(x, owner):
        y = x * owner.scale
        comptime(note)
        return y + 1

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(2), owner).sum().item(), len(seen))
    del owner
    print(life(reference))


def program_comptime_prints() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        y = x * owner.scale
        comptime.print({"y": y})
        comptime.print_locals()
        return y

    owner = Owner()
    reference = weakref.ref(owner)
    f(torch.ones(2), owner)
    del owner
    print(life(reference))


def program_allowed_in_graph() -> None:
    held: list = []

    @torch._dynamo.allow_in_graph
    def outside(x):
        held.append(weakref.ref(x))
        return x * 2

    @torch.compile(backend="eager")
    def f(x):
        return outside(x) + 1

    print(f(torch.ones(2)).sum().item())
    print(len(held), *(life(each) for each in held))


def program_constant_result() -> None:
    @torch._dynamo.assume_constant_result
    def constant(*owners):
        return owners[0].scale if owners else 2.0

    @torch.compile(backend="eager")
    def f(x, *owners):
        return x * constant(*owners)

    owner = Owner()
    reference = weakref.ref(owner)
    takes_objects = not torch.__version__.startswith("2.11.")
    print(f(torch.ones(2), *[owner] * takes_objects).sum().item())
    del owner
    print(life(reference))


def program_torch_function_mode() -> None:
    class Noting(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    @torch.compile(backend="eager")
    def f(x):
        return x.sin() + 1

    mode = Noting()
    reference = weakref.ref(mode)
    with mode:
        print(f(torch.zeros(2)).sum().item())
    del mode
    print(life(reference))


def program_higher_order_operator() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        def yes(v):
            return v * owner.scale

        def no(v):
            return v - 1

        return torch.cond(x.sum() > 1, yes, no, (x,))

    owner = Owner()
    reference = weakref.ref(owner)
    for size in (2, 3, 4):
        print(f(torch.ones(size), owner).sum().item())
    del owner
    print(life(reference))


def program_frozen_dataclass() -> None:
    @dataclasses.dataclass(frozen=True)
    class Settings:
        owner: Owner
        names: tuple = ("a", "b")

    @torch.compile(backend="eager")
    def f(x, settings):
        return x * settings.owner.scale + len(settings.names)

    for size in (2, 3, 4):
        settings = Settings(Owner())
        references = weakref.ref(settings), weakref.ref(settings.owner)
        print(f(torch.ones(size), settings).sum().item())
        del settings
        print(*map(life, references))


def program_partial() -> None:
    def scaled(x, owner, more):
        return x * owner.scale + more

    @torch.compile(backend="eager")
    def f(x, call):
        return call(x, more=1)

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(2), functools.partial(scaled, owner=owner)).sum().item())
    del owner
    print(life(reference))


def program_property_and_descriptor() -> None:
    class Lazy:
        def __init__(self, owner):
            self._owner = owner

        @property
        def scale(self):
            return self._owner.scale

    @torch.compile(backend="eager")
    def f(x, lazy):
        return x * lazy.scale

    lazy = Lazy(Owner())
    references = weakref.ref(lazy), weakref.ref(lazy._owner)
    print(f(torch.ones(2), lazy).sum().item())
    del lazy
    print(*map(life, references))


def program_set_and_dictionary_keys() -> None:
    @torch.compile(backend="eager")
    def f(x, table, chosen):
        return x * table[chosen] + len(table)

    table = {Owner(1.0): 2.0, Owner(2.0): 3.0}
    references = [weakref.ref(each) for each in table]
    chosen = next(iter(table))
    print(f(torch.ones(2), table, chosen).sum().item())
    del chosen
    table.clear()
    print(*map(life, references))


def program_map_over_objects() -> None:
    @torch.compile(backend="eager")
    def f(x, owners):
        for scale in map(operator.attrgetter("scale"), filter(None, owners)):
            x = x * scale
        return x

    owners = [Owner(), None, Owner()]
    references = [weakref.ref(each) for each in owners if each is not None]
    print(f(torch.ones(2), owners).sum().item())
    owners.clear()
    print(*map(life, references))


def program_operator_that_flattens() -> None:
    """Dynamo makes a guard for `torch.cond` where it traces its first call in the process."""

    @torch.compile(backend="eager")
    def f(x, n):
        y = torch.cond(x.sum() > 3, lambda v: v * 2, lambda v: v - 1, (x,))
        z = y + 1
        return z + n

    for n in (2, 3, 4):
        print(f(torch.arange(12.0), n).sum().item())


def program_custom_operator_with_inductor() -> None:
    @torch.library.custom_op("lifetimes::shifted", mutates_args=())
    def shifted(x: torch.Tensor, by: float) -> torch.Tensor:
        return x + by

    @shifted.register_fake
    def _(x, by):
        return torch.empty_like(x)

    @torch.compile
    def f(x, owner):
        return shifted(x, owner.scale).sin()

    for size in (4, 8):
        owner = Owner()
        reference = weakref.ref(owner)
        print(round(f(torch.ones(size), owner).sum().item(), 3))
        del owner
        print(life(reference))


def program_higher_order_with_inductor() -> None:
    @torch.compile
    def f(x, owner):
        return torch.cond(x.sum() > 1, lambda v: v * 2, lambda v: v - 1, (x,)) * owner.scale

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(4), owner).sum().item())
    del owner
    print(life(reference))


def program_frozen_dataclass_with_inductor() -> None:
    @dataclasses.dataclass(frozen=True)
    class Settings:
        owner: Owner

    @torch.compile
    def f(x, settings):
        return x.exp() * settings.owner.scale

    for size in (4, 8, 16):
        settings = Settings(Owner())
        reference = weakref.ref(settings.owner)
        print(round(f(torch.ones(size), settings).sum().item(), 2))
        del settings
        print(life(reference))
