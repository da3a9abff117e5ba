"""Run `dynascope debug`, from its first breakpoint to the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dynascope.terminal import prompt
from dynascope.terminal.commands.breakpoints import set_breakpoint
from dynascope.terminal.commands.exception_filters import catch
from dynascope.terminal.printing import Printer
from dynascope.terminal.program import Program
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session

INTERRUPTED = 130
"""The exit code of a shell command that Ctrl-C has ended."""


def debug_program(
    program: Program,
    breakpoints: Sequence[str],
    filters: Sequence[str],
    lines: Iterable[str] | None,
    share_stdin: bool,
) -> int:
    """Debug at a prompt, or run `lines`; return the program's exit code, 1 if it did not start."""
    printer = Printer()
    session = Session(program, printer, interactive=lines is None, share_stdin=share_stdin)
    try:
        for where in breakpoints:
            set_breakpoint(session, where)
        for text in filters:
            catch(session, text)
        if lines is not None:
            prompt.perform(session, lines)
        else:
            _begin(session, bool(breakpoints or filters))
            prompt.converse(session)
    except CommandError as error:
        printer.error(str(error))
        return session.exit_code or 1
    except KeyboardInterrupt:
        session.close()
        return INTERRUPTED
    finally:
        session.close()
    return session.exit_code


def _begin(session: Session, has_breakpoints: bool) -> None:
    """Run to the first stop if there are breakpoints; otherwise say how to set one."""
    if has_breakpoints or session.program.stop_on_entry:
        try:
            session.start()
        except CommandError as error:
            session.printer.error(str(error))
    else:
        name = session.program.name
        session.printer.say(f"{name} is ready: `break FILE:LINE`, then `run`; `help` lists the commands")
