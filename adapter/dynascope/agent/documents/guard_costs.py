"""Collect what is known of the guards of a new cache entry, to be recorded."""

from __future__ import annotations

import types
from typing import Any

from msgspec.structs import replace

from dynascope.agent.documents.guard_filters import filters_of
from dynascope.agent.documents.guard_trees import all_costs
from dynascope.agent.documents.saved_guards import saved_by_way
from dynascope.agent.internals.guards.tree import CacheEntry
from dynascope.facts.generated.guards import GuardCosts


def guard_costs(code: types.CodeType, entry: CacheEntry, values: dict[str, Any]) -> GuardCosts:
    """Measure the guards for a frame's locals, on its thread; try filters, and to save them."""
    found, costs = all_costs(code, entry, values)
    if found.lookup is None:
        return replace(found, text=costs)
    left, filters = filters_of(code, entry, values)
    saved, told = saved_by_way(code, entry, values)
    return replace(found, filters=left, saved=saved, text="\n\n\n".join([costs, filters, told]) + "\n")
