"""The filters that are on. The source of a filter is installed only while the filter is on."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence

from dynascope.agent import exception_filters
from dynascope.agent.breakpoints.hits import Hits
from dynascope.agent.exception_filters.facts import FactFilter
from dynascope.agent.exception_filters.filter_condition import ActiveFilter
from dynascope.agent.exception_filters.filter_source import SOURCES, CompilerEvent, FilterSource, StopFor
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.suspension.stops import ExceptionStop, Stop
from dynascope.agent.tracing.history.histories import always
from dynascope.agent.tracing.hook import Hook
from dynascope.explain.kinds import FILTERS
from dynascope.wire.messages import Message


class ActiveFilters:
    """Switch filters on and off. `use` is called on any thread, the rest on compiling threads."""

    def __init__(self, hook: Hook, send: Callable[[Message], None]) -> None:
        self._hook = hook
        self._hits = Hits(send)
        self._on: dict[str, list[ActiveFilter]] = {}
        self._installed: dict[str, FilterSource] = {}
        self._shown: WeakKeys[BaseException, bool] = WeakKeys()
        """Errors that a filter has stopped for, at which no other filter stops."""

    def use(self, filters: Sequence[ActiveFilter]) -> None:
        """Switch these filters on, and all others off."""
        on: dict[str, list[ActiveFilter]] = {}
        for one in filters:
            on.setdefault(one.filter_id, []).append(one)
        self._on = on
        self._hook.histories.expect_stops(self, always if on else None)
        for filter_id in set(self._installed) - set(on):
            self._installed.pop(filter_id).remove()
        for filter_id in sorted(set(on) - set(self._installed)):
            source = SOURCES.get(filter_id, FactFilter)
            self._installed[filter_id] = source(filter_id, self._hook, self._stop_for(filter_id))

    def _stop_for(self, filter_id: str) -> StopFor:
        def stop_for(event: CompilerEvent) -> Stop | None:
            if self._shown.get(event.error):
                return None
            ids = [one.id for one in self._on.get(filter_id, ()) if self._holds(one, event)]
            if not ids:
                return None
            if event.error is not None and not event.first_chance:
                self._shown.put(event.error, True)
            exception = ExceptionStop(event.info, f"Paused on {FILTERS[filter_id].noun}")
            return Stop("exception", ids, event.title, exception)

        return stop_for

    def _holds(self, active: ActiveFilter, event: CompilerEvent) -> bool:
        condition = active.condition
        return (
            condition.first_chance == event.first_chance
            and (not condition.ids or any(each.registry_id in condition.ids for each in event.messages))
            and condition.allows_places(event.places())
            and condition.in_my_code in (None, event.is_in_my_code())
            and condition.allows_text(f"{event.title}\n{event.info.description}")
            and (
                condition.expression is None
                or self._hits.condition_holds(active.id, condition.expression, event.context())
            )
        )


for _module in pkgutil.iter_modules(exception_filters.__path__):  # each declares the sources that are in it
    importlib.import_module(f"{exception_filters.__name__}.{_module.name}")
