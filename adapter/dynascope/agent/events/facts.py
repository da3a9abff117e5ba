"""Report facts of traced lines when they happen: to the recorder, the timeline and the exception filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.sources import source_text
from dynascope.facts.model import Specialization, TracedFact


class FactEvents(Events):
    """Call `happened` with each fact of one kind, before its line and stack are filled in."""

    def __init__(self, happened: Callable[[Any], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self.happened: Callable[[TracedFact], object] = happened
        self.subscribe()

    def subscribe(self) -> None:
        """Subscribe to the torch functions whose calls show the facts."""
        raise NotImplementedError


class SpecializationEvents(FactEvents):
    """Report a symbol when it is replaced by a number for the first time."""

    def subscribe(self) -> None:
        self.call_before(torch_names.SET_REPLACEMENT, self._symbol_replaced)

    def _symbol_replaced(self, environment: Any, a: Any, tgt: Any, msg: object = "") -> None:
        known = vars(environment)
        if tgt.is_number and tgt != known["replacements"].get(a):
            sources = (known.get("var_to_sources") or {}).get(a, ())
            origins = [text for text in map(source_text, sources) if text]
            self.happened(Specialization(symbol=str(a), value=str(tgt), reason=str(msg), origins=origins))


FACT_EVENTS: dict[str, type[FactEvents]] = {"specialization": SpecializationEvents}
"""The events of each kind of problem that is made from single facts (`explain.kinds`)."""
