"""Functions of Dynamo's with ours around them, and taking ours away again."""

from __future__ import annotations

from typing import Any


class Wrapping:
    """What was replaced, for `remove`."""

    def __init__(self) -> None:
        self._wrapped: list[tuple[Any, str, Any, Any]] = []

    def put(self, owner: Any, name: str, wrapper: Any) -> None:
        """Replace `owner`'s attribute, a module's or a class's."""
        self._wrapped.append((owner, name, wrapper, getattr(owner, name)))
        setattr(owner, name, wrapper)

    def remove(self) -> None:
        """Take the wrappers out; one that somebody else has wrapped since stays, and passes calls on."""
        for owner, name, wrapper, original in reversed(self._wrapped):
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)
        self._wrapped.clear()
