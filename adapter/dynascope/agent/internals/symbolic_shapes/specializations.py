"""Sizes and numbers that Dynamo fixes to the value they have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.sources import source_text

Specialized = Callable[[str, str, str, list[str]], None]
"""Called with the symbol, its value, Dynamo's reason, and the sources of the symbol."""


class SpecializationEvents:
    """Wraps `symbolic_shapes.ShapeEnv._set_replacement` (2.1): a symbol replaced by a number is specialised."""

    def __init__(self, specialized: Specialized) -> None:
        shapes: Any = sys.modules["torch.fx.experimental.symbolic_shapes"]
        environment_class = shapes.ShapeEnv
        replace = environment_class._set_replacement

        def _set_replacement(self: Any, a: Any, tgt: Any, *args: Any, **kwargs: Any) -> Any:
            if tgt.is_number and tgt != vars(self)["replacements"].get(a):
                _tell(specialized, self, a, tgt, str(args[0]) if args else str(kwargs.get("msg", "")))
            return replace(self, a, tgt, *args, **kwargs)

        environment_class._set_replacement = _set_replacement
        self._class, self._wrapper, self._original = environment_class, _set_replacement, replace

    def remove(self) -> None:
        """Take the wrapper out; if somebody else has wrapped it since it stays, and passes calls on."""
        if self._class._set_replacement is self._wrapper:
            self._class._set_replacement = self._original


def _tell(specialized: Specialized, environment: Any, symbol: Any, value: Any, reason: str) -> None:
    try:
        sources = (vars(environment).get("var_to_sources") or {}).get(symbol, ())
        origins = [text for text in map(source_text, sources) if text]
        specialized(str(symbol), str(value), reason, origins)
    except Exception:
        pass  # the observer contains its own errors; these are of reading names
