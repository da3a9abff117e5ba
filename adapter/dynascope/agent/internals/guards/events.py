"""Guards at the moment they are installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from torch import _guards

Installed = Callable[[str, str], None]
"""Called with the expression that the guard is on ("" for global state), and its type (`TENSOR_MATCH` …)."""

_OF_MODULE = re.compile(
    r"(?:\.__dict__\['(?:_modules|_parameters|_buffers)'\]|\.(?:_modules|_parameters|_buffers|__dict__))\['(\w+)'\]"
)
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")


class GuardEvents:
    """Wraps `torch._guards.GuardsSet.add` (2.0): called when a guard has been added that was not there before."""

    def __init__(self, installed: Installed) -> None:
        set_class: Any = _guards.GuardsSet
        add_guard = set_class.add
        events = self
        self.is_removed = False

        def add(self: Any, guard: Any, *, collect_debug_stack: bool = True, skip: int = 0) -> None:
            before = len(self.inner)
            add_guard(self, guard, collect_debug_stack=collect_debug_stack, skip=skip + 1)
            if len(self.inner) != before and not events.is_removed:
                _tell(installed, guard)

        set_class.add = add
        self._class, self._wrapper, self._original = set_class, add, add_guard

    def remove(self) -> None:
        """Take the wrapper out; if somebody else has wrapped it since it stays, and passes calls on."""
        self.is_removed = True
        if self._class.add is self._wrapper:
            self._class.add = self._original


def _tell(installed: Installed, guard: Any) -> None:
    try:
        name, kind = str(guard.name), str(guard.create_fn_name())
    except Exception:
        return  # a guard that cannot be named is none that anybody waits for
    installed(name, kind)


def as_written(source: str) -> str:
    """A source as a user would write it: `L['self'].fc.weight`, `L['x'].shape[0]`.

    Dynamo's `L['self']._modules['fc']._parameters['weight']` and `L['x'].size()[0]` (`torch._guards.Source`, 2.0).
    """
    return _SIZE.sub(r".shape[\1]", _OF_MODULE.sub(_member, source))


def _member(match: re.Match[str]) -> str:
    """A module in a ModuleList or Sequential is called by its number."""
    return f"[{match[1]}]" if match[1].isdecimal() else f".{match[1]}"
