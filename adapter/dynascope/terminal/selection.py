"""The frame and thread selected at the prompt, and the adapter's answers about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from dynascope.terminal.client import CommandError
from dynascope.terminal.debuggee import Debuggee
from dynascope.terminal.printing import lines_of
from dynascope.terminal.program import DebuggedProgram
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import (
    EvaluateResult,
    Scope,
    ScopesBody,
    SourceBody,
    StackFrame,
    Stopped,
    Variable,
    VariablesBody,
)

Body = TypeVar("Body")
PAGE = 100
"""The number of children in one request."""


class Selection:
    """Hold the selected stop and frame, and request data of them; it prints and starts nothing."""

    def __init__(self, program: DebuggedProgram) -> None:
        self.program = program
        self.debuggee: Debuggee | None = None
        self.stop: Stopped | None = None
        self.frames: list[StackFrame] = []
        self.selected = 0
        self.finished = False
        """Whether the program has run to its end at least once."""

    def need_program(self) -> Debuggee:
        """Return the running program. Raises CommandError when there is none."""
        if self.debuggee is None:
            starts = "attaches to it" if self.program.ran_before else "starts it"
            again = "" if self.program.ran_before else "; `restart` runs it again"
            gone = f"has ended{again}" if self.finished else f"is not running; `run` {starts}"
            raise CommandError(f"the program {gone}")
        return self.debuggee

    def need_frame(self) -> StackFrame:
        """Return the selected frame. Raises CommandError when the program is not stopped."""
        self.need_program()
        if not self.frames:
            raise CommandError("the program is running; Ctrl-C (or `pause`) stops it")
        return self.frames[self.selected]

    @property
    def current_file(self) -> Path | None:
        """Return the file of a bare line number; None when there is none."""
        if self.frames:
            source = self.frames[self.selected].source
            return Path(source.path) if source and source.path else None
        return self.program.script

    def scopes(self) -> list[Scope]:
        """Return the selected frame's scopes. Raises CommandError."""
        frame = self.need_frame()
        return self.ask("scopes", {"frameId": frame.id}, ScopesBody).scopes

    def children(
        self, reference: int, start: int = 0, count: int = PAGE, which: Literal["named", "indexed"] | None = None
    ) -> list[Variable]:
        """Return at most `count` children of a scope or variable, beginning with number `start`.

        `which` selects its attributes ("named") or elements ("indexed"); None: both. Raises CommandError."""
        arguments = {"variablesReference": reference, "start": start, "count": count}
        if which == "indexed" and reference < FIRST_AGENT_ID:
            return self._elements(reference, start + count)[start:]
        rows = self.ask("variables", arguments | ({"filter": which} if which else {}), VariablesBody).variables
        # debugpy sends all children and does not read `start` and `count`
        return (rows if reference >= FIRST_AGENT_ID else rows[start:])[:count]

    def _elements(self, reference: int, stop: int) -> list[Variable]:
        """Return the first `stop` elements of a sequence in the running program.

        debugpy neither pages nor filters: the names of elements are numbers, and those after 100 are children of rows
        of types MoreItems and MoreItemsRange.
        """
        elements: list[Variable] = []
        for row in self.ask("variables", {"variablesReference": reference}, VariablesBody).variables:
            if len(elements) >= stop:
                break
            if row.name.isdecimal():
                elements.append(row)
            elif row.type in ("MoreItems", "MoreItemsRange"):
                elements += self._elements(row.variables_reference, stop - len(elements))
        return elements

    def evaluate(self, expression: str, context: str = "repl") -> EvaluateResult:
        """Evaluate in the selected frame. Raises CommandError with the reason."""
        arguments = {"expression": expression, "frameId": self.need_frame().id, "context": context}
        return self.ask("evaluate", arguments, EvaluateResult)

    def source_lines(self, frame: StackFrame) -> list[str]:
        """Return the frame's source, from disk or else from the adapter; [] when there is none."""
        source = frame.source
        if source is None:
            return []
        lines = lines_of(source.path) if source.path else []
        if not lines and source.source_reference:
            arguments = {"sourceReference": source.source_reference, "source": msgspec.to_builtins(source)}
            try:
                lines = self.ask("source", arguments, SourceBody).content.splitlines()
            except CommandError:
                return []
        return lines

    def ask(self, command: str, arguments: dict[str, Any], body: type[Body]) -> Body:
        """Send any request and return the body of its response. Raises CommandError."""
        return self.need_program().request(command, arguments, body)
