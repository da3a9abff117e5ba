"""Report changes that Dynamo makes to its variables, pending for the real objects."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Changed = Callable[[object, str | None], None]
"""Called with the variable, and the name of the attribute that was set (or deleted), or None for its contents."""


class MutationEvents(Events):
    """Call `changed` before a container changes, and when an attribute has its new value."""

    def __init__(self, changed: Changed, failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_after(torch_names.MUTATION, lambda _, effects, var, *args, **kwargs: changed(var, None))
        self.call_after(
            torch_names.STORE_ATTR, lambda _, effects, item, name, value, *args, **kwargs: changed(item, name)
        )
