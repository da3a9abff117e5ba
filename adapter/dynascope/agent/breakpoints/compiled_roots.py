"""What Dynamo has compiled of a function: the frames it was compiled for, its own and those that inlined it."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Sequence

from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of


class CompiledRoots:
    """Noted at the end of every compile, on its thread; asked on any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_function: dict[FunctionKey, dict[int, weakref.ref[types.CodeType]]] = {}

    def note(self, traced: Sequence[types.CodeType]) -> None:
        """Dynamo has compiled the first of these, into which it inlined the others."""
        with self._lock:
            for code in traced:
                roots = self._by_function.setdefault(key_of(resume.original_code(code)), {})
                roots[id(traced[0])] = weakref.ref(traced[0])

    def of(self, function: FunctionKey) -> list[types.CodeType]:
        """Code of functions and resume functions whose compiled code holds this function's."""
        with self._lock:
            roots = [reference() for reference in self._by_function.get(function, {}).values()]
        return [code for code in roots if code is not None]
