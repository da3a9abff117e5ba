"""The frames that Dynamo has compiled a function in: its own, and those that inlined it."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Sequence

from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of


class CompiledRoots:
    """Record the code compiled, at the end of every compile on its thread; read on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_function: dict[FunctionKey, dict[int, weakref.ref[types.CodeType]]] = {}

    def note(self, traced: Sequence[types.CodeType]) -> None:
        """Record that Dynamo compiled the first of these and inlined the others into it."""
        with self._lock:
            for code in traced:
                roots = self._by_function.setdefault(key_of(resume.original_code(code)), {})
                roots[id(traced[0])] = weakref.ref(traced[0])

    def of(self, function: FunctionKey) -> list[types.CodeType]:
        """Return code of functions and resume functions whose compiled code includes this function."""
        with self._lock:
            roots = [reference() for reference in self._by_function.get(function, {}).values()]
        return [code for code in roots if code is not None]
