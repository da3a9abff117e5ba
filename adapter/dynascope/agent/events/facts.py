"""Report what is a fact as it happens at a traced line: for the recorder, the timeline and the exception filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.sources import source_text
from dynascope.facts.model import Specialization, TracedFact


class FactEvents(Events):
    """Call `happened` with each fact of one kind, which has no line and stack yet."""

    def __init__(self, happened: Callable[[Any], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self.happened: Callable[[TracedFact], object] = happened
        self.subscribe()

    def subscribe(self) -> None:
        """Subscribe to the torch functions by whose calls the facts are known."""
        raise NotImplementedError


class SpecializationEvents(FactEvents):
    """Tell of a symbol before it is replaced by a number for the first time."""

    def subscribe(self) -> None:
        self.call_before(torch_names.SET_REPLACEMENT, self._symbol_replaced)

    def _symbol_replaced(self, environment: Any, a: Any, tgt: Any, msg: object = "") -> None:
        known = vars(environment)
        if tgt.is_number and tgt != known["replacements"].get(a):
            sources = (known.get("var_to_sources") or {}).get(a, ())
            origins = [text for text in map(source_text, sources) if text]
            self.happened(Specialization(symbol=str(a), value=str(tgt), reason=str(msg), origins=origins))


FACT_EVENTS: dict[str, type[FactEvents]] = {"specialization": SpecializationEvents}
"""By the kind of problem that is made of the facts (`explain.kinds`)."""
