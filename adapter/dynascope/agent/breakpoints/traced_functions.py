"""The functions that Dynamo has traced, skipped and found loaded so far, and the frames that they were compiled in."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.internals.codegen.generated import compiled_from
from dynascope.agent.internals.frames import resume
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.program.functions import FunctionKey, key_of
from dynascope.agent.program.user_code import real_path
from dynascope.explain.breakpoints import LOADED, LOADED_MORE

if TYPE_CHECKING:
    from dynascope.agent.events.program_calls import Lines, LoadEvents
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.stop_check import CompileOutcome


class LoadedCode:
    """Record what the program loads, on its threads."""

    def __init__(self) -> None:
        self._functions: list[tuple[str, Lines]] = []
        self._others: dict[str, None] = {}
        """Descriptions of loaded code that does not say which functions are in it."""
        self._events: list[LoadEvents] = []

    def attach(self, hook: Hook) -> None:
        """Watch torch's functions that load code. torch._dynamo is imported."""
        from dynascope.agent.events.program_calls import load_events

        self._events = load_events(self._loaded, hook.failures)

    def detach(self) -> None:
        """Watch them no longer. Any thread."""
        for events in self._events:
            events.remove()
        self._events = []

    def _loaded(self, what: str, functions: list[Lines]) -> None:
        if functions:
            self._functions += [(what, (real_path(path), first, last)) for path, first, last in functions]
        else:
            self._others[what] = None

    def why_not_traced(self, path: str, line: int) -> str | None:
        """Return why a line's function was not traced: it was loaded compiled; None if it was not."""
        for what, (file, first, last) in self._functions:
            if file == path and first <= line <= last:
                return LOADED.format(what=what)
        return None

    def hint(self) -> str:
        """Return a sentence about loaded code in which any function may be; "" without such."""
        return LOADED_MORE.format(what=" and ".join(self._others)) if self._others else ""


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
        self._resumed: WeakKeys[types.CodeType, bool] = WeakKeys()
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
            self._resumed.put(code, True)
            awaited -= resume.lines_begun(code)
        waiting, seen = [code], {id(code)}
        while waiting:
            for continuation in resume.continuations(waiting.pop()):
                if not self._resumed.get(continuation):
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
