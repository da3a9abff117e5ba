"""Tell which values of a forward its backward uses: those that are saved, those that it computes again, and why."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from dynascope.agent.internals.graph.code import CodeLine, CodePlace, places_of, statement, value_of_aot
from dynascope.agent.internals.sources import source_text
from dynascope.facts.generated.model import users_name

_USERS_TOLD = 10
_INPUT = "it is an input of the graph, which exists anyway"
_ALL = "this partitioner saves all that the backward uses of the forward"
_CHOSEN = "it is in the smallest set of values from which the backward can be computed"
_BUDGET = "the partitioner chose it within torch._functorch.config.activation_memory_budget"
_MUST_SAVE = "its checkpoint policy says so"
_RANDOM = "computing it again would give other random numbers"
_EXPENSIVE = "its operator is expensive (a matrix product, a convolution, …), and torch does not compute such again"
_NOT_LISTED = "its operator is not among those that torch computes again"
_KEPT = "torch does not compute it again: it is small beside what it is made from, or is needed in memory anyway"


class Partition(NamedTuple):
    """The result of a min cut (`torch._functorch.partitioners.solve_min_cut`, 2.1)."""

    banned: set[str]
    """The nodes that are not computed again."""
    is_first: bool
    """Whether it was asked once: a memory budget makes it try several."""


class Division(NamedTuple):
    """A joint graph that was divided."""

    forward: Any
    backward: Any
    sources: Sequence[Any]
    """The `Source` of each input of Dynamo's graph."""
    partition: Partition | None
    """None if the partitioner made no min cut: then every value that the backward uses is saved."""


def saved_values(division: Division, is_users: Callable[[str], bool]) -> tuple[str, Iterator[CodeLine]]:
    """Return a heading, and lines with a statement and its users for each value."""
    forward = {node.name: node for node in division.forward.graph.nodes if node.op != "output"}
    inputs = [node for node in division.backward.graph.nodes if node.op == "placeholder"]
    saved = [(forward[node.name], list(node.users)) for node in inputs if node.name in forward]
    again = [(node, list(node.users)) for node in division.backward.graph.nodes if _is_computed_again(node)]
    sizes = [_bytes(node) for node, _ in saved]
    memory = f", {sum(filter(None, sizes)):,} bytes{' and those of symbolic sizes' if None in sizes else ''}"
    heading = f"{len(saved)} of the forward's values{memory if saved else ''}; the backward computes {len(again)} again"
    return heading, _lines(division, saved, again, is_users)


def _lines(
    division: Division,
    saved: Iterable[tuple[Any, list[Any]]],
    again: Sequence[tuple[Any, list[Any]]],
    is_users: Callable[[str], bool],
) -> Iterator[CodeLine]:
    for node, users in saved:
        size = _bytes(node)
        note = f", {size:,} bytes" if size is not None else ""
        name = _name(node, division.sources)
        yield from _value(node, f"{value_of_aot(node)}{note}{f'  {name}' if name else ''}", is_users)
        yield CodeLine(f"# saved: {_reason(node, division.partition)}")
        yield from _users(users, is_users)
    if again:
        yield from (CodeLine(""), CodeLine("# What the backward computes again from these:"))
    for node, users in again:
        yield from _value(node, f"{value_of_aot(node)}, computed again", is_users)
        yield from _users(users, is_users)


def _value(node: Any, note: str, is_users: Callable[[str], bool]) -> Iterator[CodeLine]:
    places = _places(node, is_users)
    yield CodeLine("")
    for number, place in enumerate(places):
        yield CodeLine(f"# {'called at ' if number else ''}{place}", places)
    yield CodeLine(f"{node.name if node.op == 'placeholder' else statement(node)}  # {note}", places)


def _users(users: Sequence[Any], is_users: Callable[[str], bool]) -> Iterator[CodeLine]:
    for user in users[:_USERS_TOLD]:
        what = "returned" if user.op == "output" else f"used by {statement(user)}"
        places = _places(user, is_users)
        yield CodeLine(f"# {what}{f'  for {places[0]}' if places else ''}", places)
    if len(users) > _USERS_TOLD:
        yield CodeLine(f"# and by {len(users) - _USERS_TOLD} more")


def _places(node: Any, is_users: Callable[[str], bool]) -> tuple[CodePlace, ...]:
    return places_of(node.meta.get("stack_trace"), is_users) if node.op != "placeholder" else ()


def _is_computed_again(node: Any) -> bool:
    """Whether a node of a backward is the forward's (`meta["partitioner_tag"]`, 2.1)."""
    return bool(node.op == "call_function" and node.meta.get("partitioner_tag") == "is_forward")


def _bytes(node: Any) -> int | None:
    """Return the size of a tensor; None for symbolic sizes, which are not to be guarded."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or any(type(size) is not int for size in value.shape):
        return None
    return int(value.dtype.itemsize * math.prod(value.shape))


def _name(node: Any, sources: Sequence[Any]) -> str:
    """Return what the program calls an input (`meta["desc"]`, a `PlainAOTInput`, 2.8), or ""."""
    described: Any = node.meta.get("desc") if node.op == "placeholder" else None
    if type(described).__name__ != "PlainAOTInput" or described.idx >= len(sources):
        return ""
    return users_name(source_text(sources[described.idx]) or "")


def _reason(node: Any, partition: Partition | None) -> str:
    """Return why a value is saved, as `solve_min_cut` decides it (`OpTypes`, 2.3)."""
    if node.op == "placeholder":
        return _INPUT
    if partition is None:
        return _ALL
    parts = [node, *node.all_input_nodes[:1]] if statement(node).endswith("]") else [node]
    banned = next((each for each in parts if each.name in partition.banned), None)
    if not partition.is_first:
        return _BUDGET
    if banned is None:
        return _CHOSEN
    operators = sys.modules["torch._functorch.partitioners"].get_default_op_list()
    if getattr(banned.meta.get("recompute"), "name", "") == "MUST_SAVE":
        return _MUST_SAVE
    if operators.is_random(banned):
        return _RANDOM
    if operators.is_compute_intensive(banned):
        return _EXPENSIVE
    return _KEPT if operators.is_recomputable(banned) else _NOT_LISTED
