"""Make the rows of graph breaks: equal ones of several compiles are one, with what it led to in which of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from msgspec import Struct

from dynascope.explain.effects import effect
from dynascope.facts import break_message, model

SITE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
F = TypeVar("F", bound=model.Fact)


class Repeated(Struct):
    """Equal facts about one line, and the names of the compiles that they are from."""

    compiles: list[str]
    count: int


class Consequence(Struct):
    """A break that another led to, while Dynamo handled that one."""

    message: break_message.BreakMessage
    compiles: list[str]
    """Those in which it did; none where it did in all."""


class Break(Repeated):
    fact: model.GraphBreak
    is_before_graph: bool
    """Whether no compile has a graph that ends there."""
    led_to: list[Consequence]

    @property
    def effect(self) -> str:
        """Return what comes of it."""
        return effect(self.fact.effect, self.is_before_graph)


def breaks_at_places(
    facts: Iterable[model.GraphBreak], names: dict[int, str], compiles: Iterable[model.Compile]
) -> list[Break]:
    """Return a row for each place and kind of break, with the compiles that break there."""
    empty = {each.id for each in compiles if each.status == "empty"}
    groups = grouped(
        facts,
        lambda fact: (fact.path, fact.line, fact.type, fact.effect, break_message.without_numbers(fact.explanation)),
    )
    # what follows from a break is in later compiles: of the functions that it leaves uncompiled, and of the rest
    groups.sort(key=lambda group: min(fact.compile for fact in group))
    return [
        Break(
            names_of(group, names),
            sum(each.count for each in group),
            group[0],
            is_before_graph=all(fact.compile in empty for fact in group),
            led_to=_led_to(group, names),
        )
        for group in groups
    ]


def _led_to(facts: list[model.GraphBreak], names: dict[int, str]) -> list[Consequence]:
    return [
        Consequence(message, names_of([facts[place] for place in places], names) if len(places) < len(facts) else [])
        for message, places in break_message.consequences(fact.reason for fact in facts)
    ]


def grouped(facts: Iterable[F], key: Callable[[F], Hashable]) -> list[list[F]]:
    """Return groups of equal facts, the largest first."""
    groups: dict[Hashable, list[F]] = {}
    for fact in facts:
        groups.setdefault(key(fact), []).append(fact)
    return sorted(groups.values(), key=len, reverse=True)


def names_of(facts: Iterable[model.Fact], names: dict[int, str]) -> list[str]:
    return [names[number] for number in dict.fromkeys(fact.compile for fact in facts)]
