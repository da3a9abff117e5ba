"""Changes that Dynamo makes to what it tracks, and holds back from the real objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Changed = Callable[[object, str | None], None]
"""Called with the variable, and the name of the attribute that was set (or deleted), or None for its contents."""


class MutationEvents:
    """Wraps `side_effects.SideEffects.mutation` (2.0) and `.store_attr` (2.0).

    `mutation` is called before a container changes; an attribute has its new value when we are called.
    """

    def __init__(self, changed: Changed) -> None:
        from torch._dynamo import side_effects

        effects_class: Any = side_effects.SideEffects
        mutate, store = effects_class.mutation, effects_class.store_attr
        events = self
        self.is_removed = False

        def mutation(self: Any, var: Any, *args: Any, **kwargs: Any) -> Any:
            result = mutate(self, var, *args, **kwargs)
            if not events.is_removed:
                changed(var, None)
            return result

        def store_attr(self: Any, item: Any, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
            result = store(self, item, name, value, *args, **kwargs)
            if not events.is_removed:
                changed(item, name)
            return result

        effects_class.mutation, effects_class.store_attr = mutation, store_attr
        self._wrapped = [
            (effects_class, "mutation", mutation, mutate),
            (effects_class, "store_attr", store_attr, store),
        ]

    def remove(self) -> None:
        """Take the wrappers out; one that somebody else has wrapped since stays, and passes calls on."""
        self.is_removed = True
        for owner, name, wrapper, original in self._wrapped:
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)
