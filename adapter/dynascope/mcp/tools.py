"""The answers of the tools, as plain text; `server` serves them."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click

from dynascope.facts.counts import seconds as readable_seconds
from dynascope.mcp import recorded
from dynascope.mcp.answers import answer, last_lines
from dynascope.mcp.recorded import NotThere
from dynascope.mcp.recordings import RecordedProgram
from dynascope.mcp.sessions import DebugSession, SessionRefused, Sessions
from dynascope.report.explain_command import explained
from dynascope.terminal.client import CommandError
from dynascope.terminal.command import program_from
from dynascope.terminal.program import DebuggedProgram

PATIENCE = 40.0
"""Seconds after which a call answers that the program still runs: clients give a call up after a minute."""
_PAUSING = 3.0
"""Seconds to wait for a stop that was asked for: code that is not Python may never get there, which is told then."""
_LOCALS = 12
"""The number of locals that are told at a stop."""
_LAST, _LAST_OF_ERROR = 5, 15
"""The number of lines of output that an answer has: of a program with exit code 0, and with another."""


class Tools:
    """The tools of one server. Errors that an agent can act on are in `server.ERRORS`."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    def record(self, command: str, timeout: float) -> str:
        """Run a program recorded, and tell what to mend first."""
        try:
            program = RecordedProgram(command, timeout)
        except ValueError as error:
            raise SessionRefused(f"{command!r} cannot be split into words: {error}.") from None
        return self._recorded(self.sessions.add(program), program)

    def problems(self, launch: str | None, page: int) -> str:
        """List all problems of a launch."""
        with recorded.launch(launch) as (_, summary):
            return answer(recorded.all_problems(summary), page, "explain(ID)" if summary.problems else "")

    def explain(self, id: str, launch: str | None, page: int) -> str:
        """Tell one problem in full."""
        with recorded.launch(launch) as (reader, summary):
            try:
                text = explained(reader, summary, id)
            except LookupError as error:
                raise NotThere(str(error)) from None
        return answer(text, page, "change the code, then record(command) again, and compare()")

    def show(self, compile: str, what: str, launch: str | None, page: int) -> str:
        """Show what Dynamo made in one compile."""
        with recorded.launch(launch) as (reader, summary):
            return answer(recorded.shown(reader, summary, compile, what), page)

    def compare(self, before: str | None, after: str | None, page: int) -> str:
        """Compare two launches."""
        return answer(recorded.compared(before, after), page)

    def debug(self, command: str, stops: list[str], catch: list[str], timeout: float) -> str:
        """Run a program under the debugger to its first stop."""
        session = DebugSession(_program(command))
        name = self.sessions.add(session)
        try:
            session.start(stops, catch)
        except CommandError:
            self.sessions.end(name)
            raise
        return self._arrived(name, session, timeout)

    def look(self, session: str, command: str, page: int) -> str:
        """Run a command of the prompt that resumes nothing."""
        found = self._debugged(session)
        try:
            found.look(command, PATIENCE)
        except TimeoutError:
            raise SessionRefused(
                f"`{command}` takes longer than {PATIENCE:.0f} s; go(session, 'wait') waits for it."
            ) from None
        text, _ = found.printed()
        return answer(text.strip() or "(nothing)", page)

    def go(self, session: str, how: str, timeout: float) -> str:
        """Resume, wait for, or end a program."""
        if how == "end":
            self.sessions.get(session)
            self.sessions.end(session)
            return "It has ended."
        found = self.sessions.get(session)
        if isinstance(found, RecordedProgram):
            if how != "wait":
                raise SessionRefused("It is recorded, not debugged: go(session, 'wait'), or 'end'.")
            return self._recorded(session, found)
        if how == "pause":
            found.pause()
            timeout = _PAUSING
        elif how != "wait":
            found.move(how)
        return self._arrived(session, found, timeout)

    def _debugged(self, name: str) -> DebugSession:
        found = self.sessions.get(name)
        if isinstance(found, RecordedProgram):
            raise SessionRefused("That program is recorded, not debugged: debug(command) starts one that stops.")
        return found

    def _recorded(self, name: str, program: RecordedProgram) -> str:
        code = program.wait(PATIENCE)
        if code is None:
            told = [f"Still running after {readable_seconds(program.spent)}; last output:"]
            return answer("\n".join([*told, *last_lines(program.output(), _LAST)]), then=f"go({name!r}, 'wait')")
        output = program.output()
        self.sessions.end(name)
        ended = f"was ended after {program.seconds:.0f} s" if program.timed_out else f"ended with exit code {code}"
        told = [f"{program.command} {ended}; last output:", *last_lines(output, _LAST_OF_ERROR if code else _LAST)]
        try:
            with recorded.launch(program.launch) as (reader, summary):
                told.append(recorded.first_to_mend(reader, summary))
                first = recorded.first(summary)
        except NotThere:
            return answer("\n".join([*told, "Nothing was recorded: it ended before torch was imported."]))
        return answer("\n".join(told), then=f"explain({first!r})" if first else "")

    def _arrived(self, name: str, session: DebugSession, timeout: float) -> str:
        """Return where a program is: at its next stop, at its end, or running on."""
        patience = min(timeout, PATIENCE)
        try:
            is_done = session.wait(patience)
        except CommandError:
            if session.has_ended:
                self.sessions.end(name)
            raise
        own, programs = session.printed()
        told = [own.strip()] if own.strip() else []
        told += ["the program printed:", *last_lines(programs, _LAST)] if programs.strip() else []
        if session.has_ended:
            self.sessions.end(name)
            return answer("\n".join(told))
        if not is_done:
            told.insert(0, f"Session {name}: still running after {patience:.0f} s.")
            return answer("\n".join(told), then=f"go({name!r}, 'wait'), or 'pause'")
        told.insert(0, f"Session {name}")
        told += self._locals(session)
        return answer("\n".join(told), then=f"look({name!r}, 'locals'), 'guards', 'why', 'where'; go({name!r}, 'next')")

    def _locals(self, session: DebugSession) -> list[str]:
        """Return the locals of a stop; none for a thread that stopped in C."""
        try:
            session.look("locals", PATIENCE)
        except (CommandError, TimeoutError):
            return []
        lines = session.printed()[0].splitlines()
        more = [f"  … {len(lines) - _LOCALS} more: look(session, 'locals')"] if len(lines) > _LOCALS else []
        return ["locals:", *lines[:_LOCALS], *more]


def _program(command: str) -> DebuggedProgram:
    """Return the program of a command line as after `python`. Raises SessionRefused."""
    try:
        match shlex.split(command):
            case ["-m", module, *arguments]:
                found = program_from(module, None, tuple(arguments))
            case ["-c", code, *arguments]:
                found = program_from(None, code, tuple(arguments))
            case words:
                found = program_from(None, None, tuple(words))
    except (ValueError, click.UsageError) as error:
        raise SessionRefused(f"{command!r}: {error}") from None
    # what it compiles at stops is not what compare() is about
    return replace(found, has_terminal=False, record=False, environment={"PYTHONUNBUFFERED": "1"})
