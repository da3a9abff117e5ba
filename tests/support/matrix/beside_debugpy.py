"""A session beside a debugger of the running program: notes the lines that run and the code entered, stops nowhere."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynascope.agent.events import convert_frame
from dynascope.agent.program.user_code import real_path
from dynascope.agent.suspension.interface import EntryBreakpoint

from tests.support.agent.scripted_session import ScriptedSession


@dataclass(frozen=True)
class Ran:
    """A moment at which debugpy could stop, with the local `i` and the kind of tensor that another local is."""

    line: int
    function: str
    i: Any = None
    tensor: type | None = None


class BesideDebugpy(ScriptedSession):
    """What modes `run` and `generated` hand over to debugpy."""

    kind = "pydevd"

    def __init__(self, path: Path, tensor: str = "x") -> None:
        """`path` is the file whose lines are noted; `tensor` a name in it."""
        super().__init__()
        self.entries: list[EntryBreakpoint] = []
        """Where debugpy was asked to stop."""
        self.ran: list[Ran] = []
        """Lines of the watched file, outside the code that Dynamo generated."""
        self.entered: list[tuple[int, str]] = []
        """By id of the breakpoint, the generated code that was entered at one of `entries`."""
        self._path, self._tensor = real_path(str(path)), tensor

    def folders_to_skip(self) -> list[str]:
        return [*super().folders_to_skip(), __file__]

    def stop_at_entries(self, wanted: Sequence[EntryBreakpoint]) -> set[int]:
        self.entries = list(wanted)
        return set()

    def beside_nobody(self) -> contextlib.AbstractContextManager[ScriptedSession]:
        """Attached, with nothing noted of what runs."""
        return super().attached()

    @contextlib.contextmanager
    def attached(self) -> Iterator[ScriptedSession]:
        with super().attached():
            before = sys.gettrace()
            sys.settrace(self._called)
            try:
                yield self
            finally:
                sys.settrace(before)

    def _called(self, frame: types.FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        for entry in self.entries:
            if (code.co_filename, code.co_firstlineno) == (entry.path, entry.line) and convert_frame.is_generated(code):
                self.entered.append((entry.id, code.co_name))
        return self._line if code.co_filename == self._path and not convert_frame.is_generated(code) else None

    def _line(self, frame: types.FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "line":
            local = frame.f_locals
            self.ran.append(Ran(frame.f_lineno, frame.f_code.co_name, local.get("i"), type(local.get(self._tensor))))
        return self._line
