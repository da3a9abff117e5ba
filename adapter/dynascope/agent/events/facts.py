"""Report facts of traced lines when they happen, decisions on symbols, and marked sizes that could not stay dynamic."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.graph.fake_operation import tensor_of_size
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_text
from dynascope.agent.internals.symbolic_shapes.shapes import range_text, relation_text
from dynascope.facts.model import Specialization, TracedFact


@dataclass(frozen=True, slots=True)
class SymbolEvent:
    """One symbol: `what` is "specialised to 4", "refined to [3, oo]", "replaced by s1", "constrained"."""

    symbol: str
    sources: tuple[str, ...]
    what: str
    by: str | None
    """The condition that caused it, `s0 > 8`; None if there is none."""

    def __str__(self) -> str:
        """Return `s0 specialised to 4 by s0 == 4`."""
        return f"{self.symbol} {self.what}{f' by {self.by}' if self.by is not None else ''}"


Decided = Callable[[list[SymbolEvent]], None]
"""Called once per decision, with its effect on each of its symbols."""

_State = tuple[Any, Any]  # a symbol's replacement, and its range
_Decision = tuple[Any, dict[Any, _State], Any]  # the `ShapeEnv`, the symbols before, and the guard


class SymbolEvents(Events):
    """Call `decided` once per decision, which is several nested calls of `ShapeEnv`."""

    def __init__(self, decided: Decided, failures: HookFailures) -> None:
        super().__init__(failures)
        self._decided = decided
        self._inside = threading.local()
        self.call_around(torch_names.MAYBE_GUARD_REL, functools.partial(self._begins, True), self._ends)
        self.call_around(torch_names.SET_REPLACEMENT, functools.partial(self._begins, False), self._ends)
        self.call_around(torch_names.UPDATE_VAR_TO_RANGE, functools.partial(self._begins, False), self._ends)

    def _begins(self, is_guard: bool, environment: Any, subject: Any, *args: Any, **kwargs: Any) -> _Decision | None:
        if getattr(self._inside, "is_set", False):
            return None
        before = _states(environment, subject)
        self._inside.is_set = True
        return environment, before, subject if is_guard else None

    def _ends(self, decision: _Decision | None, result: Any, error: BaseException | None) -> None:
        if decision is not None:
            self._inside.is_set = False
            if error is None:
                self._tell(*decision)

    def _tell(self, environment: Any, before: dict[Any, _State], guard: Any) -> None:
        events = [event for symbol, state in before.items() if (event := _event(environment, symbol, state, guard))]
        if events:
            self._decided(events)


def _states(environment: Any, subject: Any) -> dict[Any, _State]:
    """Return the state of the symbols in `subject` that have a range; a new one has none."""
    known = vars(environment)
    ranges, replacements = known.get("var_to_range") or {}, known.get("replacements") or {}
    symbols = sorted(getattr(subject, "free_symbols", ()), key=str)
    return {symbol: (replacements.get(symbol), ranges[symbol]) for symbol in symbols if symbol in ranges}


def _event(environment: Any, symbol: Any, before: _State, guard: Any) -> SymbolEvent | None:
    known = vars(environment)
    replacement, span = (known.get("replacements") or {}).get(symbol), known["var_to_range"].get(symbol)
    if replacement is not None and replacement != before[0]:
        kind = "specialised to" if replacement.is_number else "replaced by"
        what = f"{kind} {replacement}"
    elif span != before[1]:
        what = f"refined to {range_text(span)}"
    elif guard is not None:
        what = "constrained"
    else:
        return None
    sources = tuple(text for text in map(source_text, (known.get("var_to_sources") or {}).get(symbol, ())) if text)
    return SymbolEvent(str(symbol), sources, what, relation_text(guard) if guard is not None else None)


class ConstraintViolationEvents(Events):
    """Call `violated` with each `ConstraintViolationError` before it is raised: in the trace, or as guards are made.

    The second error that torch.export makes while it handles one, with another message, is left out.
    """

    def __init__(self, violated: Callable[[BaseException], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def made(_: None, error: BaseException, *args: object) -> None:
            if not isinstance(sys.exc_info()[1], type(error)):
                violated(error)

        self.call_after(torch_names.CONSTRAINT_VIOLATION, made)


class FactEvents(Events):
    """Call `happened` with each fact of one kind, before its line and stack are filled in."""

    kind: ClassVar[str]
    """The kind of the problems that are made from the facts (`explain.kinds`)."""

    def __init__(self, happened: Callable[[Any], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self.happened: Callable[[TracedFact], object] = happened
        self.subscribe()

    def subscribe(self) -> None:
        """Subscribe to the torch functions whose calls show the facts."""
        raise NotImplementedError


class SpecializationEvents(FactEvents):
    """Report a symbol when it is replaced by a number for the first time."""

    kind = "specialization"

    def subscribe(self) -> None:
        self.call_before(torch_names.SET_REPLACEMENT, self._symbol_replaced)

    def _symbol_replaced(self, environment: Any, a: Any, tgt: Any, msg: object = "") -> None:
        known = vars(environment)
        if tgt.is_number and tgt != known["replacements"].get(a):
            sources = (known.get("var_to_sources") or {}).get(a, ())
            origins = [text for text in map(source_text, sources) if text]
            beside = tensor_of_size(a, int(tgt)) if tgt.is_integer else ""
            value = expression_text(tgt)
            self.happened(Specialization(symbol=str(a), value=value, reason=str(msg), origins=origins, beside=beside))


FACT_EVENTS = {each.kind: each for each in FactEvents.__subclasses__()}
"""The events by the kind of the problems that are made from their facts."""
