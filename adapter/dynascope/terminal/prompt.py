"""Run `dynascope debug`: read commands at the prompt (completion, history, Ctrl-C) or from a list, until the end."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType

import platformdirs
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from dynascope import console
from dynascope.terminal import commands, locations
from dynascope.terminal.client import CommandError
from dynascope.terminal.commands.breakpoints import catch, set_breakpoint
from dynascope.terminal.commands.inspection import local_names
from dynascope.terminal.printing import Printer
from dynascope.terminal.program import DebuggedProgram
from dynascope.terminal.session import StartFailed, TerminalSession

PROMPT = "(dynascope) "
_TAKES_FILES = {"break", "tbreak", "clear"}
_TAKES_EXPRESSIONS = {"print", "expand", "history"}

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""The signals at which the program is ended, too."""
INTERRUPTED = 130
"""The exit code of a shell command that Ctrl-C has ended."""


def converse(session: TerminalSession) -> None:
    """Prompt until the user quits. An empty line repeats the last step command."""
    prompt: PromptSession[str] = PromptSession(
        history=_history(), completer=CommandCompleter(session), complete_while_typing=False
    )
    _exit_at_signals(prompt.app)
    last = ""
    while not session.leaving:
        try:
            with patch_stdout(raw=True):
                line = prompt.prompt(ANSI(f"\x1b[1;34m{PROMPT}\x1b[0m")).strip() or last
        except KeyboardInterrupt:
            continue  # as in a shell: Ctrl-C drops the line
        except EOFError:
            line = "quit"
        last = ""
        try:
            done = commands.execute(session, line)
            last = line if done is not None and done.repeats else ""
        except CommandError as error:
            session.printer.error(str(error))
        except KeyboardInterrupt:
            session.printer.error("interrupted")


def perform(session: TerminalSession, lines: Iterable[str]) -> None:
    """Run a list of commands, printing each as if typed; then run the program to its end.

    A line that starts with `#` is printed as a heading. A command that needs a stop first runs the program to one.
    Raises StartFailed.
    """
    above = "#"
    for raw in lines:
        line = raw.strip()
        if line.startswith("#"):
            session.printer.heading(line, gap=not above.startswith("#"))
        elif line:
            session.printer.echo(PROMPT, line)
            try:
                commands.execute(session, line, starts=True)
            except StartFailed:
                raise
            except CommandError as error:
                session.printer.error(str(error))
        above = line or above
        if session.leaving:
            return
    session.run_to_end()


def _exit_at_signals(prompt: Application[str]) -> None:
    """Raise SystemExit at signals that end this process, so that the program ends, too.

    The event loop of a prompt raises it: raised anywhere in the loop, while output is printed above the prompt, it
    would leave what waits for that output waiting.
    """

    def end(number: int, frame: FrameType | None) -> None:
        exits = SystemExit(128 + number)
        if prompt.loop is None:
            raise exits
        prompt.loop.call_soon_threadsafe(lambda: prompt.is_done or prompt.exit(exception=exits))

    for ending in ENDING_SIGNALS:
        signal.signal(ending, end)


class CommandCompleter(Completer):
    """Complete command names, options and file names after `break`, and the frame's locals after `print`."""

    def __init__(self, session: TerminalSession) -> None:
        self._session = session
        self._files = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor.lstrip()
        word, space, argument = before.partition(" ")
        if not space:
            yield from (Completion(name, -len(word)) for name in commands.names() if name.startswith(word))
            return
        try:
            name = commands.find(word).names[0]
        except CommandError:
            return
        if name in _TAKES_FILES:
            start = argument.rpartition(" ")[2]
            yield from (Completion(option, -len(start)) for option in locations.completed_options(argument))
            yield from self._files.get_completions(Document(locations.without(argument)), complete_event)
        elif name in _TAKES_EXPRESSIONS:
            start = argument[len(argument.rstrip("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")) :]
            candidates = local_names(self._session) if self._session.frames else []
            yield from (Completion(one, -len(start)) for one in candidates if one.startswith(start))
        elif name == "help":
            yield from (Completion(one, -len(argument)) for one in commands.names() if one.startswith(argument))
        else:
            start = argument.rpartition(" ")[2]
            yield from (Completion(label, -len(start)) for label, _ in console.completions(f"{name} {argument}"))


def _history() -> History:
    """Return the history in a file of the user; in memory if no file can be written."""
    folder = Path(platformdirs.user_state_dir("dynascope", appauthor=False))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / "history"
        file.touch(mode=0o600)
        return FileHistory(str(file))
    except OSError:
        return InMemoryHistory()


def debug_program(
    program: DebuggedProgram,
    breakpoints: Sequence[str],
    filters: Sequence[str],
    lines: Iterable[str] | None,
    share_stdin: bool,
) -> int:
    """Debug at a prompt, or run `lines`; return the program's exit code, 1 if it did not start."""
    printer = Printer()
    session = TerminalSession(program, printer, interactive=lines is None, share_stdin=share_stdin)
    try:
        for where in breakpoints:
            set_breakpoint(session, where)
        for text in filters:
            catch(session, text)
        if lines is not None:
            perform(session, lines)
        else:
            _begin(session, bool(breakpoints or filters))
            converse(session)
    except CommandError as error:
        printer.error(str(error))
        return session.exit_code or 1
    except KeyboardInterrupt:
        session.close()
        return INTERRUPTED
    finally:
        session.close()
    return session.exit_code


def _begin(session: TerminalSession, has_breakpoints: bool) -> None:
    """Run to the first stop if there are breakpoints; otherwise say how to set one."""
    if has_breakpoints or session.program.stop_on_entry:
        try:
            session.start()
        except CommandError as error:
            session.printer.error(str(error))
    else:
        name = session.program.name
        then = "then `run` attaches" if session.program.ran_before else "then `run`"
        session.printer.say(f"{name} is ready: `break FILE:LINE`, {then}; `help` lists the commands")
