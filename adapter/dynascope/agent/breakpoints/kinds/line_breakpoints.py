"""Whether a breakpoint can be hit, and why not: what the client shows beside it.

Facts come from Dynamo (what it traced and what it skipped, noted at the end of a thread's outermost compile), from the
program's modules (functions under `torch.compiler.disable`) and from Dynamo's rules for files. Nothing is searched in
the heap, and no attribute is read that could run code.
"""

from __future__ import annotations

import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable

import msgspec

from dynascope.agent.backward.table import BY_NAME, names_backward
from dynascope.agent.breakpoints import hit_counts
from dynascope.agent.breakpoints.breakpoint import Breakpoint, names_function
from dynascope.agent.breakpoints.kinds.node_names import message_about, names_only_nodes
from dynascope.agent.breakpoints.never_hit import why_never_traced, why_not_stopped
from dynascope.agent.internals.compile import trace_rules
from dynascope.agent.internals.frames import resume
from dynascope.agent.program.functions import FunctionKey, disabled_because, find_function, key_of
from dynascope.agent.program.source_lines import function_code_at, is_function, lines_with_code
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import HAS_STOPPED, FunctionBreakpoint, Source, SourceBreakpoint
from dynascope.wire.dap import Breakpoint as BreakpointState
from dynascope.wire.to_agent import SetBreakpoints, SetFunctionBreakpoints

_CACHED = "Compiled already: it stops again when Dynamo traces it again."
_PASSED_BY = "Compiled, but Dynamo did not come to this line: it stops when a later compile does."
_NOT_YET = "Not compiled yet: it stops when Dynamo traces it"
_AT_IMPORT = "Dynamo never traces module-level code"
_NO_FUNCTION = "Dynamo has traced no function of this name yet."
_CANNOT_STOP = "; without the runtime half this line cannot stop."
_COMPILER = 'This is code of the compiler, which debugpy does not watch while it compiles: set "debugDynamo": true.'
_COMPILER_FOLDERS = tuple(f"{os.sep}torch{os.sep}{name}{os.sep}" for name in ("_dynamo", "_functorch", "_inductor"))


class Verification:
    """Answers on the channel's thread, learns on compiling threads; `changed` is called on either."""

    def __init__(self, runs_are_debugged: bool, changed: Callable[[BreakpointState], None]) -> None:
        """`runs_are_debugged`: a line that Dynamo does not trace still stops when it runs, because debugpy is there."""
        hit_counts.forget()
        self._runs_are_debugged = runs_are_debugged
        self._changed = changed
        self.compiler_is_debugged = False
        """Whether debugpy watches Dynamo itself while it traces (the setting `debugDynamo`)."""
        self._lock = threading.Lock()
        self._traced: set[FunctionKey] = set()
        self._skipped: dict[FunctionKey, str] = {}
        self._stopped_in: set[FunctionKey] = set()
        self._stopped_at: set[int] = set()
        self._modules = 0
        """How many modules there were when every state was looked at."""
        self._awaited: dict[FunctionKey, set[int]] = {}
        """Lines behind a graph break that Dynamo has not come to yet, of functions that it has traced."""
        self._resumed: weakref.WeakSet[types.CodeType] = weakref.WeakSet()
        self._lines: dict[str, list[tuple[SourceBreakpoint, BreakpointState]]] = {}
        self._functions: list[tuple[FunctionBreakpoint, BreakpointState]] = []
        self.is_compiling: Callable[[], bool] = lambda: False
        """Whether some thread compiles now: it may be past a breakpoint that is set meanwhile."""
        self._made: dict[str, list[tuple[Breakpoint, bool]]] = {}
        """By file, with whether it was set amid a compile."""
        self._passed_by: set[tuple[FunctionKey, int]] = set()
        """Lines at which a breakpoint waited while Dynamo traced their function without coming to them."""

    # ---- what the client asks

    def resolve_lines(self, message: SetBreakpoints) -> tuple[str, list[BreakpointState], list[Breakpoint]]:
        """The file's real path, the answer to each breakpoint in order, and those that are at work."""
        path = real_path(message.path)
        rows, made = [], []
        for asked in message.breakpoints:
            state = self._line_state(path, asked)
            rows.append((asked, state))
            if state.reason != "failed":
                made.append(hit_counts.at_work(asked, state.line))
        amid = self.is_compiling()
        with self._lock:
            self._lines[path] = rows
            self._made[path] = [(each, amid) for each in made]
        return path, [state for _, state in rows], made

    def resolve_functions(
        self, message: SetFunctionBreakpoints
    ) -> tuple[list[BreakpointState], list[tuple[str, Breakpoint]]]:
        """The answer to each breakpoint in order, and those that are at work with their names."""
        rows = [(asked, self._function_state(asked)) for asked in message.breakpoints]
        made = [(asked.name, hit_counts.at_work(asked, None)) for asked, state in rows if state.reason != "failed"]
        with self._lock:
            self._functions = rows
        return [state for _, state in rows], made

    # ---- what Dynamo does

    def compiled(self, traced: Iterable[types.CodeType], skipped: Iterable[tuple[types.CodeType, str]]) -> None:
        """An outermost compile is over: the code it traced, and frames that Dynamo skipped, with its reasons.

        Either may be a resume function's.
        """
        with self._lock:
            keys = {self._note_lines(code) for code in traced}
            paths = {key.path for key in keys}
            self._traced |= keys
            for key in keys:
                self._skipped.pop(key, None)
            self._note_passed_by(keys)
            for code, reason in skipped:
                if resume.is_resume_function(code):
                    self._note_lines(code)
                else:
                    key = key_of(code)
                    self._skipped[key] = reason
                    paths.add(key.path)
            if len(sys.modules) != self._modules:  # what is disabled may be known now
                self._modules = len(sys.modules)
                paths.update(self._lines)
            changes = self._refresh(paths)
        for state in changes:
            self._changed(state)

    def stops(self, code: types.CodeType, ids: Iterable[int]) -> None:
        """These breakpoints stop in `code`: whatever was said against them does not hold."""
        with self._lock:
            rows = [*(row[1] for at in self._lines.values() for row in at), *(row[1] for row in self._functions)]
            unsaid = {state.id for state in rows if not state.verified or state.id not in self._stopped_at}
            if unsaid.isdisjoint(ids):
                return
            self._stopped_at.update(ids)
            key = key_of(resume.original_code(code))
            self._stopped_in.add(key)
            self._skipped.pop(key, None)
            changes = self._refresh(self._lines)
        for state in changes:
            self._changed(state)

    def dynamo_is_there(self) -> None:
        """torch._dynamo is imported: what names mean to it is known from now on."""
        with self._lock:
            changes = self._refresh(self._lines)
        for state in changes:
            self._changed(state)

    def _note_lines(self, code: types.CodeType) -> FunctionKey:
        """Dynamo has traced `code` as far as a graph break, if there was one: the lines behind it are still to come."""
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

    def _note_passed_by(self, keys: set[FunctionKey]) -> None:
        for path in {key.path for key in keys} & self._made.keys():
            for breakpoint, amid in self._made[path]:
                line = breakpoint.line
                code = None if line is None else function_code_at(path, line)
                if line is None or code is None or (key := key_of(code, path)) not in keys:
                    continue
                if breakpoint.reached:
                    self._passed_by.discard((key, line))
                elif not amid and line not in self._awaited.get(key, ()):
                    self._passed_by.add((key, line))
            self._made[path] = [(breakpoint, False) for breakpoint, _ in self._made[path]]

    def why_never_hit(self) -> list[BreakpointState]:
        """The program is about to end: the states of line breakpoints that never stopped here, with the reason."""
        with self._lock:
            return [
                msgspec.structs.replace(state, message=message)
                for path, rows in self._lines.items()
                for _, state in rows
                if state.reason != "failed" and (message := self._why_never_hit(path, state)) is not None
            ]

    def _why_never_hit(self, path: str, state: BreakpointState) -> str | None:
        waiting = next((each for each, _ in self._made.get(path, ()) if each.id == state.id), None)
        if waiting is None or state.line is None or waiting.has_stopped:
            return None
        if waiting.reached:
            return why_not_stopped(waiting)
        if _NOT_YET not in (state.message or ""):
            return None  # that says it
        code = function_code_at(path, state.line)
        key = None if code is None else key_of(code, path)
        if key is not None and state.line in self._awaited.get(key, ()):
            return f"Never hit. What follows the graph break before it in {key.name} was never compiled."
        name = "its function" if key is None else key.name
        return why_never_traced(path, name, self._runs_are_debugged and not self.compiler_is_debugged)

    def _refresh(self, paths: Iterable[str]) -> list[BreakpointState]:
        """Every state that is another now, of those in these files and of those by name."""
        changes: list[BreakpointState] = []
        for path in paths:
            rows = self._lines.get(path, [])
            for at, (asked, before) in enumerate(rows):
                if before.reason != "failed" and (now := self._line_state(path, asked)) != before:
                    rows[at] = asked, now
                    changes.append(now)
        for at, (function, before) in enumerate(self._functions):
            if before.reason != "failed" and (now := self._function_state(function)) != before:
                self._functions[at] = function, now
                changes.append(now)
        return changes

    # ---- one breakpoint

    def _line_state(self, path: str, asked: SourceBreakpoint) -> BreakpointState:
        code_lines = lines_with_code(path)
        line = asked.line if code_lines is None else code_lines.line_for(asked.line)
        state = BreakpointState(id=asked.id, verified=False, line=line or asked.line, source=Source(path=path))
        if problem := hit_counts.problem_with(asked):
            return _failed(state, problem)
        if line is None:
            return _failed(state, "There is no code on this line or below it.")
        codes = code_lines.code_at[line] if code_lines is not None else ()
        state.verified, state.message = self._prospects(
            path, line, [code for code in codes if is_function(code)], bool(codes)
        )
        if asked.id in self._stopped_at and state.message.startswith(_NOT_YET):
            state.message = HAS_STOPPED
        if asked.log_message:
            state.message = state.message.replace("it stops", "it logs")
        state.message = hit_counts.with_what_counts(state.message, asked, self._runs_are_debugged)
        if line != asked.line:
            state.message = f"Line {asked.line} has no code: moved to line {line}. {state.message}"
        return state

    def _prospects(self, path: str, line: int, functions: list[types.CodeType], known: bool) -> tuple[bool, str]:
        """Whether Dynamo or debugpy can stop in the outermost of these functions, and what to say about it."""
        if not functions:
            return self._at_runtime_only(_AT_IMPORT) if known else (True, self._not_yet())
        keys = [key_of(code, path) for code in functions]
        outermost = keys[0]
        if outermost in self._skipped:
            reason = self._skipped[outermost] or "it gives no reason"
            return self._at_runtime_only(f"Dynamo skipped {outermost.name}: {reason}")
        if any((key, line) in self._passed_by for key in keys):
            return True, _PASSED_BY
        if any(key in self._traced and line not in self._awaited.get(key, ()) for key in keys):
            return True, _CACHED
        if self._stopped_in.isdisjoint(keys) and self._traced.isdisjoint(keys):
            if (why := disabled_because(find_function(path, outermost))) is not None:
                return self._at_runtime_only(why)
            if (why := trace_rules.why_file_is_skipped(path)) is not None:
                if self._runs_are_debugged and not self.compiler_is_debugged and _is_of_compiler(path):
                    return False, _COMPILER
                return self._at_runtime_only(f"Dynamo does not trace this file: {why}")
        return True, self._not_yet()

    def _not_yet(self) -> str:
        return f"{_NOT_YET}, and when it runs uncompiled." if self._runs_are_debugged else f"{_NOT_YET}."

    def _at_runtime_only(self, reason: str) -> tuple[bool, str]:
        ending = ". It stops when it runs uncompiled." if self._runs_are_debugged else _CANNOT_STOP
        return self._runs_are_debugged, reason.rstrip(".") + ending

    def _function_state(self, asked: FunctionBreakpoint) -> BreakpointState:
        state = BreakpointState(id=asked.id, verified=True)
        if problem := hit_counts.problem_with(asked):
            return _failed(state, problem)
        if names_backward(asked.name):
            state.message = BY_NAME
            return state
        about_nodes = message_about(asked.name)
        if about_nodes is not None and names_only_nodes(asked.name):
            state.message = about_nodes
        elif not any(names_function(asked.name, key.name) for key in self._traced | self._stopped_in):
            state.message = about_nodes or _NO_FUNCTION
            state.verified, state.reason = about_nodes is not None, None if about_nodes else "pending"
        state.message = hit_counts.with_what_counts(state.message, asked, self._runs_are_debugged)
        return state


def _failed(state: BreakpointState, message: str) -> BreakpointState:
    state.verified, state.message, state.reason = False, message, "failed"
    return state


def _is_of_compiler(path: str) -> bool:
    return any(folder in path for folder in _COMPILER_FOLDERS)
