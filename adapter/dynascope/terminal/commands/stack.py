"""Show and select frames and threads, and list source lines."""

from __future__ import annotations

from dynascope.terminal import locations
from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command
from dynascope.terminal.commands.ranks import where_all
from dynascope.terminal.printing import is_symbolic
from dynascope.terminal.session import CONTEXT, TerminalSession
from dynascope.wire.dap import StackFrame, StackTraceBody

_FORMATS = {"-p": "parameters", "-a": "includeAll"}
"""The options of `where`, with their names in DAP's `StackFrameFormat`."""


@command("where", "w", "bt", "backtrace", usage="[-p] [-a] | all", needs_stop=True)
def where(session: TerminalSession, argument: str) -> None:
    """Show the call stack: the frames that Dynamo traces, then those of the running program.

    `-p`: with parameters, `forward(self: MLP, x: f32[s0, 16])`. `-a`: with the frames of libraries and of Dynamo that
    are left out without debugpy; `frame`, `up` and `down` then count them too, until the next stop.
    `where all`: the stacks of all ranks of a job as one tree.
    """
    if argument == "all":
        where_all(session)
        return
    here = session.need_frame()
    words = argument.split()
    if not _FORMATS.keys() >= set(words):
        raise CommandError(f"`where` takes `-p` and `-a`, or `all`, not `{argument}`")
    frames = session.frames
    if words and session.stop is not None:
        arguments = {"threadId": session.stop.thread_id, "format": {_FORMATS[word]: True for word in words}}
        frames = session.ask("stackTrace", arguments, StackTraceBody).stack_frames
        if "-a" in words:
            selected = next(at for at, frame in enumerate(frames) if frame.id == here.id)
            session.frames, session.selected = frames, selected
    session.printer.stack(frames, session.selected)


@command("up", "u", usage="[COUNT]", repeats=True, needs_stop=True)
def up(session: TerminalSession, argument: str) -> None:
    """Select the caller's frame."""
    _select(session, session.selected + _number(argument, 1))


@command("down", "d", usage="[COUNT]", repeats=True, needs_stop=True)
def down(session: TerminalSession, argument: str) -> None:
    """Select the called frame."""
    _select(session, session.selected - _number(argument, 1))


@command("frame", "f", usage="NUMBER", needs_stop=True)
def frame(session: TerminalSession, argument: str) -> None:
    """Select the frame with that number in `where`."""
    _select(session, _number(argument, session.selected))


@command("list", "l", usage="[LINE | FIRST, LAST | .]", repeats=True, needs_stop=True)
def list_(session: TerminalSession, argument: str) -> None:
    """Show source lines around the current one; repeated, the lines after them."""
    here = _with_source(session).line
    first, _, last = (part.strip() for part in argument.partition(","))
    if last:
        session.show_source(_number(first, here), _number(last, here))
    elif first and first != ".":
        middle = _number(first, here)
        session.show_source(middle - CONTEXT, middle + CONTEXT)
    elif session.listed is not None and not first:
        session.show_source(session.listed + 1, session.listed + 1 + 2 * CONTEXT)
    else:
        session.show_source(here - CONTEXT, here + CONTEXT)


@command("longlist", "ll", needs_stop=True)
def longlist(session: TerminalSession, argument: str) -> None:
    """Show the whole function."""
    here = _with_source(session).line
    file = session.current_file
    around = locations.function_around(file, here) if file else None
    session.show_source(*(around or (here - CONTEXT, here + CONTEXT)))


@command("threads", needs_stop=True)
def threads(session: TerminalSession, argument: str) -> None:
    """List the program's threads; `>` marks the selected one."""
    debuggee = session.need_program()
    listing = debuggee.threads()
    stopped = debuggee.stopped_threads(listing)
    session.printer.threads(listing, session.stop.thread_id if session.stop else None, stopped)


@command("thread", "t", usage="NUMBER", needs_stop=True, missing="which? `threads` lists them with their numbers")
def thread(session: TerminalSession, argument: str) -> None:
    """Select a thread by its number and show where it is."""
    if not argument.isdecimal():
        raise CommandError("which? `threads` lists them with their numbers")
    session.select_thread(int(argument))


def _with_source(session: TerminalSession) -> StackFrame:
    """Return the selected frame. Raises CommandError if the text of its code is not known."""
    frame = session.need_frame()
    if not session.source_lines(frame):
        source, else_ = frame.source, "; `disassemble` shows its bytecode" if is_symbolic(frame) else ""
        name = (source.path or source.name) if source is not None else None
        raise CommandError(f"the source of {name or 'this frame'} is not known{else_}")
    return frame


def _select(session: TerminalSession, index: int) -> None:
    session.select_frame(index)
    frame = session.frames[index]
    session.printer.stack_line(frame, index)
    session.show_source(frame.line - CONTEXT, frame.line + CONTEXT)
    session.listed = None


def _number(text: str, default: int) -> int:
    if not text:
        return default
    if not text.isdecimal():
        raise CommandError(f"give a number, not `{text}`")
    return int(text)
