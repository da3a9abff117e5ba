"""Programs that ask weak references, weak dictionaries and weak sets what is left after a compile."""

import dataclasses
import gc
import weakref
from typing import NamedTuple

import torch


class Owner:
    """Something that can be referred to weakly."""

    def __init__(self, scale: float = 2.0) -> None:
        self.scale = scale

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    owner: Owner


class Pair(NamedTuple):
    first: torch.Tensor
    owner: Owner


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_guard_on_a_weak_reference() -> None:
    @torch.compile(backend="eager")
    def f(x, reference):
        return x * 2 if reference() is None else x + 1

    owner = Owner()
    reference = weakref.ref(owner)
    print(f(torch.ones(2), reference).sum().item())
    del owner
    print(life(reference), f(torch.ones(2), reference).sum().item())
    print(f(torch.ones(3), reference).sum().item())


def program_guard_on_a_weak_reference_beside_others() -> None:
    @torch.compile(backend="eager")
    def f(batch, pair, reference):
        y = batch.x * batch.owner.scale
        if reference() is None:
            y = y + 1
        return y + pair.first, pair.owner

    owner = Owner()
    reference = weakref.ref(owner)
    out, _ = f(Batch(torch.ones(2), Owner(3.0)), Pair(torch.ones(2), Owner()), reference)
    print(out.sum().item())
    del owner
    out, kept = f(Batch(torch.ones(2), Owner(3.0)), Pair(torch.ones(2), Owner()), reference)
    print(out.sum().item(), kept.scale)


def program_owner_of_an_argument() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        return owner.scaled(x) + 1

    for size in (2, 3, 4):
        owner = Owner()
        reference = weakref.ref(owner)
        print(f(torch.ones(size), owner).sum().item())
        del owner
        print(life(reference))


def program_owner_that_is_not_read() -> None:
    @torch.compile(backend="eager")
    def f(x, owner, unread):
        return owner.scaled(x)

    used, unread = Owner(), Owner()
    references = weakref.ref(used), weakref.ref(unread)
    f(torch.ones(2), used, unread)
    del used, unread
    print(*map(life, references))


def program_weak_key_dictionary() -> None:
    notes: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    @torch.compile(backend="eager")
    def f(x, owner):
        return owner.scaled(x).relu()

    for n in range(3):
        owner = Owner(n + 1.0)
        notes[owner] = n
        f(torch.ones(2), owner)
        print(len(notes), sorted(notes.values()))
    del owner
    print(len(notes))


def program_weak_value_dictionary() -> None:
    by_name: weakref.WeakValueDictionary = weakref.WeakValueDictionary()

    @torch.compile(backend="eager")
    def f(x, table):
        return x * table["a"].scale + len(table)

    table = {"a": Owner(), "b": Owner()}
    by_name.update(table)
    print(f(torch.ones(2), table).sum().item())
    del table["b"]
    print(sorted(by_name), f(torch.ones(2), table).sum().item())
    table.clear()
    print(sorted(by_name))


def program_weak_set() -> None:
    living: weakref.WeakSet = weakref.WeakSet()

    def helper(x, owners):
        for owner in owners:
            x = owner.scaled(x)
        return x

    @torch.compile(backend="eager")
    def f(x, owners):
        return helper(x, owners) + 1

    owners = [Owner() for _ in range(3)]
    living.update(owners)
    while owners:
        print(f(torch.ones(2), owners).sum().item(), len(living))
        owners.pop()
    print(len(living))


def program_weak_method() -> None:
    owner = Owner()
    method = weakref.WeakMethod(owner.scaled)

    @torch.compile(backend="eager")
    def f(x, call):
        return call(x) - 1

    print(f(torch.ones(2), owner.scaled).sum().item())
    print(method() is not None)
    del owner
    print(method() is not None)


def program_callbacks_of_weak_references() -> None:
    @torch.compile(backend="eager")
    def f(x, owners):
        return sum(owner.scaled(x) for owner in owners)

    owners = [Owner(1.0), Owner(2.0), Owner(3.0)]
    references = [weakref.ref(owner, lambda _, n=n: print("gone", n)) for n, owner in enumerate(owners)]
    print(f(torch.ones(2), tuple(owners)).sum().item())
    for n in (1, 0):
        print("drop", n)
        del owners[n]
    print(*map(life, references))


def program_proxy() -> None:
    owner = Owner()
    proxy = weakref.proxy(owner)

    @torch.compile(backend="eager")
    def f(x, owner):
        torch._dynamo.graph_break()
        return owner.scaled(x)

    print(f(torch.ones(2), owner).sum().item())
    del owner
    try:
        print(proxy.scale)
    except ReferenceError:
        print("gone")


def program_owner_with_inductor() -> None:
    @torch.compile
    def f(x, owner):
        return (owner.scaled(x) + 1).relu()

    for size in (4, 8, 16):
        owner = Owner()
        reference = weakref.ref(owner)
        print(f(torch.ones(size), owner).sum().item())
        del owner
        print(life(reference))


def program_tensor_with_inductor() -> None:
    @torch.compile
    def f(x, y, n):
        return (x @ y).relu() * n

    for n in (2, 3, 4):
        x, y = torch.ones(4, 4), torch.eye(4)
        references = weakref.ref(x), weakref.ref(y)
        out = f(x, y, n)
        del x, y
        print(out.sum().item(), *map(life, references))
        result = weakref.ref(out)
        del out
        print(life(result))


def program_owner_in_a_cycle() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        return owner.scaled(x)

    owner = Owner()
    owner.itself = owner
    reference = weakref.ref(owner)
    f(torch.ones(2), owner)
    del owner
    gc.collect()
    print(life(reference))
