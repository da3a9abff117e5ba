"""Print stops, stacks, source lines and variables, in colours on a terminal."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from dynascope.terminal.breakpoints import UserBreakpoint
from dynascope.terminal.locations import display_path
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import Output, StackFrame, Stopped, Thread, Variable

COMPILE_TIME = "bold magenta"
RUN_TIME = "bold green"
VALUE_LENGTH = 160
"""The most characters of a value in a list; `print` shows all of it."""

_COMPILE_ID = re.compile(r"\[!?\d[^\]]*\]$")


def is_symbolic(frame: StackFrame) -> bool:
    """Whether it is an agent's frame that Dynamo traces: `f [0/0]`, or `[!0 …]` of a backward."""
    return frame.id >= FIRST_AGENT_ID and _COMPILE_ID.search(frame.name) is not None


class Printer:
    """Print to one console; every method is safe on any thread (rich locks)."""

    def __init__(self, own: TextIO | None = None, programs: TextIO | None = None) -> None:
        """Print to `own`, and the program's output to `programs`; by default to stdout and stderr."""
        # no wrapping, so that a line of a log stays one line; in a notebook it is `own` that is written to, too
        plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False, "force_jupyter": False}
        self.console = Console(file=own, soft_wrap=True, **plain)
        self._programs = programs

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style))

    def error(self, text: str) -> None:
        self.console.print(Text.assemble(("*** ", "bold red"), text))

    def heading(self, text: str, gap: bool) -> None:
        """Print a comment of a list of commands, after an empty line if `gap`."""
        if gap:
            self.console.print()
        self.console.print(Text(text, "bold cyan"))

    def echo(self, prompt: str, line: str) -> None:
        """Print a command of a list as if it had been typed."""
        self.console.print(Text.assemble((prompt, "bold blue"), (line, "bold")))

    def output(self, output: Output) -> None:
        """Print the program's output unchanged, and the debugger's in a style of its own."""
        if output.category in ("stdout", "stderr"):
            stream = self._programs or (sys.stdout if output.category == "stdout" else sys.stderr)
            stream.write(output.output)
            stream.flush()
        elif output.category != "telemetry":
            style = "bold yellow" if output.category == "important" else "dim"
            self.say(output.output.rstrip("\n"), style)

    def stop(self, stop: Stopped, frame: StackFrame | None, hit: Sequence[UserBreakpoint]) -> None:
        """Print a stop: `● compile time  Model.forward [0/0]  model.py:12  (breakpoint 1)`."""
        if frame is None:
            self.say(f"● thread {stop.thread_id} stopped ({stop.reason})", RUN_TIME)
            return
        symbolic = is_symbolic(frame)
        why = ", ".join(f"breakpoint {breakpoint.number}" for breakpoint in hit) or stop.reason
        part = ("● compile time", COMPILE_TIME) if symbolic else ("● run time", RUN_TIME)
        self.console.print(
            Text.assemble(part, (f"  {frame.name}", "bold"), (f"  {place(frame)}", "cyan"), (f"  ({why})", "dim"))
        )

    def stack(self, frames: Sequence[StackFrame], selected: int) -> None:
        """Print the frames, innermost first, with a mark at `selected`."""
        names = max((len(frame.name) for frame in frames), default=0)
        for index, frame in enumerate(frames):
            if index and is_symbolic(frames[index - 1]) and not is_symbolic(frame):
                self.say("    ── the running program ──", "dim")
            self.stack_line(frame, index, index == selected, min(names, 40))

    def stack_line(self, frame: StackFrame, index: int, selected: bool = True, width: int = 0) -> None:
        style = COMPILE_TIME if is_symbolic(frame) else ""
        if frame.presentation_hint in ("subtle", "label"):
            style = "dim"
        self.console.print(
            Text.assemble(
                ("> " if selected else "  ", "bold"),
                (f"#{index:<3}", "dim"),
                (frame.name.ljust(width), style),
                (f"  {place(frame)}", "cyan"),
            )
        )

    def source(self, lines: Sequence[str], first: int, current: int, breakpoints: Iterable[int] = ()) -> None:
        """Print source lines numbered from `first`; `->` marks the current one, `B` a breakpoint."""
        width = len(str(first + len(lines)))
        coloured = _coloured(lines) if self.console.is_terminal else [Text(line) for line in lines]
        marked = set(breakpoints)
        for number, text in enumerate(coloured, first):
            here = number == current
            self.console.print(
                Text.assemble(
                    ("->" if here else "  ", "bold yellow"),
                    ("B" if number in marked else " ", "bold red"),
                    (f"{number:>{width}}  ", "bold" if here else "dim"),
                    text,
                )
            )

    def variables(self, variables: Sequence[Variable], indent: str = "  ") -> None:
        """Print a line for each variable: name, value, type."""
        names = min(max((len(variable.name) for variable in variables), default=0), 40)
        for variable in variables:
            if variable.value.startswith(f"%{variable.name} "):
                self.say(f"{indent}{shorten(variable.value)}")  # an FX node, which names itself
                continue
            line = Text.assemble((f"{indent}{variable.name.ljust(names)}", "cyan"), "  ", shorten(variable.value))
            if variable.type and variable.type not in variable.value:
                line.append(f"  {variable.type}", "dim")
            self.console.print(line)

    def threads(self, threads: Sequence[Thread], selected: int | None, stopped: Iterable[int]) -> None:
        halted, width = set(stopped), max((len(str(thread.id)) for thread in threads), default=0)
        for thread in threads:
            state = "stopped" if thread.id in halted else ""
            number = f"{'>' if thread.id == selected else ' '} {thread.id:<{width}}  "
            self.console.print(Text.assemble((number, "bold"), thread.name, (f"  {state}", "dim")))


def place(frame: StackFrame) -> str:
    """Return `model.py:12`, with folders if it is outside the working directory."""
    source = frame.source
    if source is None or not (source.path or source.name):
        return "?"
    is_named = source.name not in (None, source.path, os.path.basename(source.path or ""))  # `In [3]`
    text = source.name or "?" if is_named or not source.path else display_path(source.path)
    parts = text.split(os.sep)
    if os.path.isabs(text) and len(parts) > 5:
        text = os.path.join("…", *parts[-3:])
    return f"{text}:{frame.line}"


def shorten(value: str) -> str:
    """Return the value as one line of at most `VALUE_LENGTH` characters.

    Its middle is left out: sources of what is deep in a model begin alike, and differ at the end.
    """
    line, kept = value.replace("\n", "⏎"), VALUE_LENGTH // 2
    return line if len(line) <= VALUE_LENGTH else f"{line[: kept - 1]}…{line[-kept:]}"


def lines_of(path: str) -> list[str]:
    """Return the file's current lines; [] when it cannot be read."""
    linecache.checkcache(path)
    return [line.rstrip("\n") for line in linecache.getlines(path)]


def _coloured(lines: Sequence[str]) -> list[Text]:
    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    coloured = syntax.highlight("\n".join(lines)).split("\n", allow_blank=True)
    return list(coloured)[: len(lines)]
