"""Say what differs between a frame as it is traced and as it would be with a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from dynascope.explain.details import effect
from dynascope.explain.problem import where
from dynascope.facts.counts import counted
from dynascope.facts.model import GraphBreak

_LISTED = 12
"""The greatest number of guards, or operations, gone or new that the text lists; the rows have them all."""


@dataclass
class Traced:
    """What a trace of the frame to its end came to."""

    graphs: list[list[str]] = field(default_factory=list)
    """The operations of each graph, as lines of code."""
    graph_break: GraphBreak | None = None
    ends_at: tuple[str, int] = "", 0
    """The place where the graph ends: of a break in a function that was inlined, the outermost call."""
    error: str | None = None
    """The type of the break, or the first line of the error, that has ended the trace instead."""
    is_given_up: bool = False
    """Whether the function then runs uncompiled, for good; else the error reaches the program."""
    symbols_told: list[str] = field(default_factory=list)
    guards_told: list[str] = field(default_factory=list)


class TraceDifference:
    """The difference between a frame traced without and with a change."""

    def __init__(self, plain: Traced, changed: Traced) -> None:
        fails = changed.error is not None and not changed.is_given_up
        self._pairs = [
            ("error" if fails else "graph break", end(plain), end(changed)),
            ("graphs", _graphs(plain), _graphs(changed)),
        ]
        self._sets = [
            ("operation", Counter(chain(*plain.graphs)), Counter(chain(*changed.graphs))),
            ("symbol", Counter(plain.symbols_told), Counter(changed.symbols_told)),
            ("guard", Counter(plain.guards_told), Counter(changed.guards_told)),
        ]
        if plain.error is not None or changed.error is not None:
            self._sets.clear()  # there is nothing to compare

    def text(self) -> str:
        """Return one sentence for each thing that differs, or that nothing does."""
        return "\n".join(self._sentences()) or "Nothing changes: the same graphs, guards and symbols, the same end."

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each thing that differs."""
        for name, before, after in self._pairs:
            yield name, after if before == after else f"{before} → {after}"
        for name, earlier, later in self._sets:
            yield from ((f"{name} gone", text) for text in (earlier - later).elements())
            yield from ((f"{name} new", text) for text in (later - earlier).elements())

    def _sentences(self) -> Iterator[str]:
        for name, before, after in self._pairs:
            if before != after:
                yield f"{name.capitalize()}: {after}; without the change: {before}."
        for name, earlier, later in self._sets:
            gone, new = list((earlier - later).elements()), list((later - earlier).elements())
            if gone or new:
                yield f"{name.capitalize()}s: {later.total()}, without the change {earlier.total()}."
            for sign, texts in (("−", gone), ("+", new)):
                yield from (f"  {sign} {text}" for text in texts[:_LISTED])
                if len(texts) > _LISTED:
                    yield f"  {sign} {len(texts) - _LISTED} more"


def harm(traced: Traced) -> str:
    """Return what is said before a change is kept with which a trace has ended in an error."""
    never = ", and Dynamo never compiles it again in this process" if traced.is_given_up else ""
    return f"With this change {end(traced)}{never}. Ask again to keep it all the same."


def end(traced: Traced) -> str:
    found = traced.graph_break
    if traced.error is not None:
        given_up = effect("function uncompiled")
        return f"{given_up} ({traced.error})" if traced.is_given_up else f"the compile fails with {traced.error}"
    if found is None:
        return "no graph break"
    is_here = traced.ends_at == (found.path, found.line)
    call = "" if is_here else f", so the graph ends at the call in {where(*traced.ends_at)}"
    rest = "" if found.effect == "resumed" else f": {effect(found.effect, graph='the graph')}"
    return f"{found.type} ({where(found.path, found.line)}){call}{rest}"


def _graphs(traced: Traced) -> str:
    if not traced.graphs:
        return "none"
    *others, last = [str(len(operations)) for operations in traced.graphs]
    sizes = f"{', '.join(others)} and {last}" if others else last
    return f"{counted(len(traced.graphs), 'graph')} with {sizes} {'operation' if sizes == '1' else 'operations'}"
