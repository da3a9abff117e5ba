"""The functions that Dynamo has traced and skipped so far."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints.loaded_code import LoadedCode
from dynascope.agent.internals.codegen.generated import compiled_from
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, key_of

if TYPE_CHECKING:
    from dynascope.agent.tracing.stop_check import CompileOutcome


def functions_of(codes: Iterable[types.CodeType]) -> set[FunctionKey]:
    """Return the functions of this code, which may include resume functions."""
    return {key_of(resume.original_code(code)) for code in codes}


class TracedFunctions:
    """Record what Dynamo traced, on compiling threads; read on any. Includes resume functions."""

    def __init__(self) -> None:
        self.loaded = LoadedCode()
        self._lock = threading.RLock()
        self._traced: set[FunctionKey] = set()
        self._skipped: dict[FunctionKey, str] = {}
        self._abandoned: set[FunctionKey] = set()
        self._stopped_in: set[FunctionKey] = set()
        self._awaited: dict[FunctionKey, set[int]] = {}
        """Lines after a graph break that Dynamo has not traced yet."""
        self._resumed: weakref.WeakSet[types.CodeType] = weakref.WeakSet()
        """Resume functions that Dynamo has traced."""
        self._generated: dict[FunctionKey, list[weakref.ref[types.CodeType]]] = {}
        """The code generated for each function and its resume functions."""

    def note_generated(self, code: types.CodeType, generated: types.CodeType) -> None:
        """Record that Dynamo has generated code for a function or resume function."""
        with self._lock:
            known = self._generated.setdefault(key_of(resume.original_code(code)), [])
            known[:] = [each for each in known if each() is not None]
            known.append(weakref.ref(generated))

    def note(self, outcome: CompileOutcome) -> None:
        """Record the result of a compile that has ended."""
        with self._lock:
            keys = {self._note_lines(code) for code in outcome.traced}
            self._traced |= keys
            for key in keys:
                self._skipped.pop(key, None)
            self._abandoned |= functions_of(outcome.abandoned)
            for code, reason in outcome.skipped:
                if resume.is_resume_function(code):
                    self._note_lines(code)
                else:
                    self._skipped[key_of(code)] = reason.partition("\n")[0]  # then comes where the frame is

    def note_stop_in(self, code: types.CodeType) -> bool:
        """Record that a thread stops in this code, and return whether that is new."""
        with self._lock:
            key = key_of(resume.original_code(code))
            is_new = not self.is_met(key) or key in self._skipped
            self._stopped_in.add(key)
            self._skipped.pop(key, None)
            return is_new

    def _note_lines(self, code: types.CodeType) -> FunctionKey:
        """Record lines after a graph break of `code`, until Dynamo traces their resume function."""
        original = resume.original_code(code)
        key = key_of(original)
        awaited = self._awaited.setdefault(key, set())
        if original is not code:
            self._resumed.add(code)
            awaited -= resume.lines_begun(code)
        waiting, seen = [code], {id(code)}
        while waiting:
            for continuation in resume.continuations(waiting.pop()):
                if continuation not in self._resumed:
                    awaited |= resume.lines_begun(continuation)
                elif id(continuation) not in seen:
                    seen.add(id(continuation))
                    waiting.append(continuation)
        return key

    @property
    def has_compiled(self) -> bool:
        """Whether Dynamo has traced or skipped any function."""
        return bool(self._traced or self._skipped or self._abandoned)

    def skip_reason(self, key: FunctionKey) -> str | None:
        """Return why Dynamo skipped a function; None when it did not, "" when it gave no reason."""
        return self._skipped.get(key)

    def awaits(self, key: FunctionKey, line: int) -> bool:
        """Whether the line follows a graph break of the function and Dynamo has not traced it."""
        return line in self._awaited.get(key, ())

    def runs_uncompiled(self, key: FunctionKey, line: int) -> bool:
        """Whether the line runs uncompiled, after a graph break from which Dynamo cannot resume."""
        with self._lock:
            known = [code for reference in self._generated.get(key, ()) if (code := reference()) is not None]
        return any(line in resume.lines_as_written(code, compiled_from(code)) for code in known)

    def has_abandoned(self, key: FunctionKey) -> bool:
        """Whether Dynamo traced the function in a compile that failed."""
        return key in self._abandoned

    def abandoned(self) -> set[FunctionKey]:
        """Return the functions that Dynamo traced in compiles that failed."""
        with self._lock:
            return set(self._abandoned)

    def has_traced(self, key: FunctionKey, line: int) -> bool:
        """Whether Dynamo has traced the function as far as the line."""
        return key in self._traced and not self.awaits(key, line)

    def is_met(self, key: FunctionKey) -> bool:
        """Whether Dynamo has traced the function, or a thread has stopped in it."""
        return key in self._traced or key in self._stopped_in

    def functions(self) -> set[FunctionKey]:
        """Return the functions that Dynamo has traced or a thread has stopped in."""
        with self._lock:
            return self._traced | self._stopped_in
