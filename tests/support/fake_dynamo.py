"""What the hook sees of Dynamo, without torch: frames whose instructions are walked one by one, and never run."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from dynascope.agent.inspection.disassembly import Listings
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing import hook as hooks
from dynascope.wire.messages import Message, ResumeCommand

Function = Callable[..., Any]


def nothing_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Dynamo's tables of the code that it has generated be empty."""
    tables = {
        "resume_execution": {"ContinueExecutionCache": SimpleNamespace(generated_code_metadata={}, cache={})},
        "convert_frame": {"orig_code_map": {}, "output_codes": set()},
    }
    for name, fields in tables.items():
        monkeypatch.setitem(sys.modules, f"torch._dynamo.{name}", SimpleNamespace(**fields))  # type: ignore[misc]


class Translator:
    """A frame being traced, with the attributes of `InstructionTranslatorBase` that the tracing room reads."""

    is_tracing_resume_prologue = False

    def __init__(self, code: types.CodeType, output: Any) -> None:
        self.f_code = code
        self.output = output
        self.lineno = -1
        self.instruction_pointer = 0
        self.instructions = list(dis.get_instructions(code))
        self.current_instruction = self.instructions[0]

    def starts_line(self, line: int) -> None:
        self.lineno = line


class ScriptedStops:
    """Note where threads stop, and resume them with the next command, at the end with `continue`."""

    def __init__(self, *commands: ResumeCommand) -> None:
        self.reasons: list[str] = []
        self._commands = list(commands)

    def wait(self, make_inspection: Any, first_runtime_frame: Any, stop: Stop) -> ResumeCommand:
        self.reasons.append(stop.reason)
        return self._commands.pop(0) if self._commands else "continue"

    def step_prepared(self, at: int) -> tuple[str, None]:
        return "line", None

    def compile_begins(self) -> None: ...


class PlainSuspension(Suspension):
    """A program without any other debugger; all code is the user's."""

    kind = "own loop"
    pauses = False

    def wait(self, *arguments: Any) -> ResumeCommand:
        raise AssertionError("the scripted stops wait in its place")

    def is_user_code(self, path: str) -> bool:
        return True

    def pause_requested(self) -> bool:
        return self.pauses


class BesideDebugpy(PlainSuspension):
    """A program that debugpy debugs, too."""

    kind = "pydevd"


class FakeDynamo:
    """Calls the hook as Dynamo does; `inlined` maps a line to the function that its first instruction calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *commands: ResumeCommand) -> None:
        self.inlined: dict[int, Function] = {}
        self.removed: list[str] = []
        self.sent: list[Message] = []
        self.stops = ScriptedStops(*commands)
        self.suspension = PlainSuspension()
        self._activations: tuple[Any, Any] = (None, None)
        nothing_generated(monkeypatch)
        monkeypatch.setattr(hooks.convert_frame, "CompileHooks", self._compile_hooks)
        monkeypatch.setattr(hooks, "ActivationHooks", self._activation_hooks)
        monkeypatch.setattr(hooks, "Retraces", lambda rewinds, failures: SimpleNamespace(remove=lambda: None))
        self.hook = hooks.Hook(self.suspension, self.stops, Listings(), self.sent.append)  # type: ignore[arg-type]
        self.hook.histories.are_recorded = False

    def _compile_hooks(self, observer: Any, failures: Any) -> Any:
        return SimpleNamespace(frame_below=lambda: None, remove=lambda: self.removed.append("compile"))

    def _activation_hooks(self, entered: Any, left: Any, failures: Any) -> Any:
        self._activations = entered, left
        return SimpleNamespace(remove=lambda: self.removed.append("activation"))

    def compile(self, function: Function, attempts: int = 1) -> None:
        """Trace a function; each attempt but the last ends at its last line, and the next one replays it."""
        self.hook.compiles.compile_begins()
        for attempt in range(1, attempts + 1):
            self._trace(function.__code__, SimpleNamespace(_current_tx=[], tracing_context=None))
            if attempt < attempts:
                self.hook.compiles.attempt_restarts("speculation", "")
        self.hook.compiles.compile_ends(SimpleNamespace(f_code=function.__code__), True, None)

    def _trace(self, code: types.CodeType, output: Any) -> None:
        entered, left = self._activations
        translator = Translator(code, output)
        output._current_tx.append(translator)
        entered(translator)
        line, called = code.co_firstlineno, set()
        for index, instruction in enumerate(translator.instructions):
            positions = instruction.positions
            line = (positions and positions.lineno) or line
            translator.instruction_pointer = index + 1
            translator.current_instruction = instruction
            translator.starts_line(line)
            if line in self.inlined and line not in called and instruction.opname != "RESUME":
                called.add(line)
                self._trace(self.inlined[line].__code__, output)
        output._current_tx.pop()
        left(translator)
