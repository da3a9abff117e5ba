"""Sessions of the debugger that an agent drives: the commands of the prompt, without a terminal.

A session is a name that the agent passes with each call, since a request of MCP tells nothing of those before it
(2026-07-28). Commands run on a thread of the session: a call returns when its command ends, or says that it still runs.
"""

from __future__ import annotations

import io
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from dynascope.mcp.recordings import RecordedProgram
from dynascope.terminal import commands
from dynascope.terminal.commands.breakpoints import catch, set_breakpoint
from dynascope.terminal.printing import Printer
from dynascope.terminal.program import DebuggedProgram
from dynascope.terminal.session import TerminalSession

MOST = 4
"""So many sessions may be open: each has a program."""
IDLE = 1800.0
"""Seconds after which a session is ended that is not used."""
_KEPT = 100_000
"""The most characters of a program's output that are kept for the next answer."""


class SessionRefused(Exception):
    """The session cannot do this; the text says why."""


class DebugSession:
    """A program under the debugger."""

    def __init__(self, program: DebuggedProgram) -> None:
        self._own, self._programs = _Text(), _Text()
        self._session = TerminalSession(
            program, Printer(self._own, self._programs), interactive=False, share_stdin=False
        )
        self._thread = ThreadPoolExecutor(1, "dynascope session")
        self._command: Future[object] | None = None

    def start(self, stops: list[str], filters: list[str]) -> None:
        """Set the breakpoints, and begin to run the program to its first stop. Raises CommandError."""
        for where in stops:
            set_breakpoint(self._session, where)
        for text in filters:
            catch(self._session, text)
        self._begin(self._session.start)

    def move(self, command: str) -> None:
        """Begin to run a command that resumes the program. Raises CommandError and SessionRefused."""
        self._check_stopped()
        if not commands.parse(command)[0].resumes:
            raise SessionRefused(f"`{command}` resumes nothing: look(session, {command!r}).")
        self._begin(lambda: commands.execute(self._session, command))

    def look(self, command: str, seconds: float) -> None:
        """Run a command that resumes nothing. Raises CommandError, SessionRefused, and TimeoutError."""
        self._check_stopped()
        if commands.parse(command)[0].resumes:
            raise SessionRefused(f"`{command}` resumes the program: go(session, {command!r}).")
        self._begin(lambda: commands.execute(self._session, command))
        if not self.wait(seconds):
            raise TimeoutError

    def pause(self) -> None:
        """Ask the program to stop. Raises CommandError."""
        self._session.need_program().pause()

    def wait(self, seconds: float) -> bool:
        """Wait for the command; return whether it has ended. Raises CommandError with its error."""
        if self._command is None:
            return True
        try:
            self._command.result(seconds)
        except TimeoutError:
            return False
        finally:
            if self._command.done():
                self._command = None
        return True

    def printed(self) -> tuple[str, str]:
        """Return what the debugger, and what the program, has printed since the last call."""
        return self._own.take(), self._programs.take()

    @property
    def has_ended(self) -> bool:
        """Whether the program has run to its end."""
        return self._command is None and self._session.debuggee is None

    def close(self) -> None:
        """End the program."""
        self._session.close()
        self._thread.shutdown(wait=False)

    def _begin(self, run: Callable[[], object]) -> None:
        self._command = self._thread.submit(run)

    def _check_stopped(self) -> None:
        if self._command is not None and not self._command.done():
            raise SessionRefused(
                "The program runs: go(session, 'wait') waits for its next stop, go(session, 'pause') asks for one."
            )


class _Text(io.StringIO):
    """The text that was printed and not yet taken; of a long one, its end."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        with self._lock:
            if self.tell() > _KEPT:
                kept = self.getvalue()[-_KEPT // 2 :]
                self.seek(0)
                self.truncate()
                super().write(kept)
            return super().write(text)

    def take(self) -> str:
        with self._lock:
            text = self.getvalue()
            self.seek(0)
            self.truncate()
            return text


Session = DebugSession | RecordedProgram


class Sessions:
    """The sessions of a server, by names that cannot be guessed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Session, float]] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._end_idle, daemon=True).start()

    def add(self, session: Session) -> str:
        """Return the name of a new session; close it if there are too many. Raises SessionRefused."""
        with self._lock:
            if len(self._open) < MOST and not self._closed.is_set():
                name = secrets.token_urlsafe(9)
                self._open[name] = session, time.monotonic()
                return name
            names = ", ".join(self._open)
        session.close()
        raise SessionRefused(f"{MOST} programs run already: {names}. End one: go(session, 'end').")

    def get(self, name: str) -> Session:
        """Return a session. Raises SessionRefused."""
        with self._lock:
            if name not in self._open:
                raise SessionRefused(
                    f"There is no session {name!r}: it has ended, or never was. debug(command) starts one."
                )
            session, _ = self._open[name]
            self._open[name] = session, time.monotonic()
            return session

    def end(self, name: str) -> None:
        """End a session, and its program."""
        with self._lock:
            session, _ = self._open.pop(name, (None, 0.0))
        if session is not None:
            session.close()

    def close(self) -> None:
        """End all sessions, and take no more."""
        self._closed.set()
        for name in list(self._open):
            self.end(name)

    def _end_idle(self) -> None:
        while not self._closed.wait(IDLE / 60):
            now = time.monotonic()
            for name in [name for name, (_, used) in list(self._open.items()) if now - used > IDLE]:
                self.end(name)
