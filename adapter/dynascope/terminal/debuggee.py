"""One run of the program under the adapter: its start, its stops and its end, over DAP. It prints nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

import msgspec

from dynascope.terminal.breakpoints import WATCHING, Breakpoints, Catching, UserBreakpoint
from dynascope.terminal.client import AdapterProcess, RequestRefused
from dynascope.terminal.interrupts import waiting_on
from dynascope.terminal.locations import Group
from dynascope.terminal.program import DebuggedProgram
from dynascope.wire.dap import (
    Breakpoint,
    BreakpointChange,
    BreakpointsBody,
    Capabilities,
    ContinueBody,
    DataBreakpointInfo,
    Exited,
    Output,
    RunInTerminal,
    StackTraceBody,
    Stopped,
    Thread,
    ThreadChange,
    ThreadsBody,
)

Body = TypeVar("Body")
ADAPTER = (sys.executable, "-m", "dynascope", "dap")
"""The command of the adapter in the same installation."""
_REQUESTS = {
    "functions": "setFunctionBreakpoints",
    "instructions": "setInstructionBreakpoints",
    "data": "setDataBreakpoints",
}
WHO_WE_ARE = {
    "clientID": "dynascope-terminal",
    "clientName": "dynascope debug",
    "adapterID": "dynascope",
    "pathFormat": "path",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "supportsVariableType": True,
    "supportsVariablePaging": True,
    "supportsRunInTerminalRequest": True,
}
StepCommand = Literal["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "restartFrame", "goto"]


def still_stopped(debuggee: Debuggee, thread_id: int) -> Stopped | None:
    """Return the stop of another thread; None if all run, or are in C, or the program has ended."""
    try:
        threads = debuggee.threads()
    except RequestRefused:
        return None
    for thread in threads:
        if thread.id != thread_id and thread.id not in debuggee.exited and answers(debuggee, thread.id):
            return debuggee.stops.get(thread.id) or Stopped(reason="stopped with the others", thread_id=thread.id)
    return None


def answers(debuggee: Debuggee, thread_id: int) -> bool:
    """Whether the thread is stopped: of a running one, debugpy shows only the stack."""
    try:
        body = debuggee.request("stackTrace", {"threadId": thread_id, "levels": 1}, StackTraceBody)
        frame_id = body.stack_frames[0].id if body.stack_frames else None
        debuggee.request("evaluate", {"expression": "0", "frameId": frame_id, "context": "watch"}, msgspec.Raw)
    except RequestRefused:
        return False
    return frame_id is not None


def capabilities_of_adapter() -> Capabilities:
    """Start an adapter to read its capabilities, without a program. Raises RequestRefused."""
    client = AdapterProcess(ADAPTER, lambda name, body: None, lambda command, arguments: {}, lambda: None)
    try:
        return client.request("initialize", WHO_WE_ARE, Capabilities)
    finally:
        client.close()


class Debuggee:
    """The program, running under an adapter of its own. Call `start` once, and `close` in every case.

    `changed` guards `stops` and the flags: the reader thread sets them, and the main thread waits for them.
    """

    capabilities_of_client: ClassVar[Mapping[str, Any]] = WHO_WE_ARE
    terminates = True
    """Whether the program ends with the session."""
    begins_run: ClassVar[bool] = True
    """Whether hits of breakpoints are counted from here."""

    def __init__(
        self,
        program: DebuggedProgram,
        breakpoints: Breakpoints,
        on_output: Callable[[Output], None],
        on_breakpoint: Callable[[Breakpoint], None],
        share_stdin: bool,
    ) -> None:
        """Start the adapter; `share_stdin` gives the program this stdin. Raises AdapterGone."""
        self.stops: dict[int, Stopped] = {}
        self.exited: set[int] = set()
        """Ids of the threads that have ended."""
        self.ended = False
        self.exit_code: int | None = None
        self.capabilities = Capabilities()
        self.changed = threading.Condition()
        self._program = program
        self._breakpoints = breakpoints
        self._on_output = on_output
        self._on_breakpoint = on_breakpoint
        self._share_stdin = share_stdin
        self._initialized = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._client = AdapterProcess(ADAPTER, self._event, self._reverse_request, self._closed)

    # ---- the start

    def start(self, catching: Catching) -> dict[str, str]:
        """Launch with all breakpoints; return refused filters and reasons. Raises RequestRefused."""
        self.capabilities = self.request("initialize", self.capabilities_of_client, Capabilities)
        launched = self._begin()
        # a launch that fails is answered before, and often without, `initialized`
        launched.add_done_callback(lambda future: self._initialized.set() if future.exception() else None)
        self._initialized.wait()
        if launched.done():
            launched.result()
        if self.begins_run:
            self._breakpoints.forget_answers()
        for group in self._breakpoints.groups():
            self.set_breakpoints(group)
        refused = self.set_exception_filters(catching)
        self.request("configurationDone", {}, msgspec.Raw)
        launched.result()
        return refused

    def _begin(self) -> Future[msgspec.Raw]:
        """Send the request that begins the session."""
        return self._client.send("launch", self._program.to_launch())

    def find_watched(self, breakpoint: UserBreakpoint, frame_id: int | None = None) -> None:
        """Request the data id of the value that `one` watches. Raises RequestRefused."""
        arguments = {"name": breakpoint.location.watched} | ({} if frame_id is None else {"frameId": frame_id})
        info = self.request("dataBreakpointInfo", arguments, DataBreakpointInfo)
        if info.data_id is None:
            raise RequestRefused(info.description)
        if info.access_types and breakpoint.location.access not in info.access_types:
            can = " or ".join(f"`{WATCHING[access]}`" for access in info.access_types)
            raise RequestRefused(f"{info.description} can only be watched with {can}")
        breakpoint.data_id = info.data_id

    def _finds_watched(self, breakpoint: UserBreakpoint) -> bool:
        """Whether the data id is known; an error is shown in the list, and the program starts."""
        try:
            self.find_watched(breakpoint)
        except RequestRefused as error:
            breakpoint.answer = Breakpoint(id=-1, verified=False, message=str(error))
        return bool(breakpoint.data_id)

    def set_breakpoints(self, group: Group) -> None:
        """Send the breakpoints of one group (see `Group`). Raises RequestRefused."""
        here = self._breakpoints.in_group(group)
        if group == "data":
            here = [one for one in here if one.data_id or self._finds_watched(one)]
        asked = [one.to_dap() for one in here]
        if not isinstance(group, Path):
            body = self.request(_REQUESTS[group], {"breakpoints": asked}, BreakpointsBody)
        else:
            source = {"path": os.fspath(group), "name": os.path.basename(group)}
            body = self.request("setBreakpoints", {"source": source, "breakpoints": asked}, BreakpointsBody)
        for one, answer in zip(here, body.breakpoints, strict=False):
            one.answer = answer

    def set_exception_filters(self, catching: Catching) -> dict[str, str]:
        """Switch exactly these on; return the user's refused ones and why. Raises RequestRefused."""
        filters = self.capabilities.exception_breakpoint_filters
        if not filters:
            return {}
        on = catching.on(filters)
        arguments: dict[str, Any] = {"filters": list(on)}
        if self.capabilities.supports_exception_filter_options:
            options = [{"filterId": one} | ({"condition": when} if when else {}) for one, when in on.items()]
            arguments = {"filters": [], "filterOptions": options}
        body = self.request("setExceptionBreakpoints", arguments, BreakpointsBody)
        answers = zip(on, body.breakpoints, strict=False)
        return {
            name: answer.message or "refused"
            for name, answer in answers
            if catching.chose(name) and not answer.verified
        }

    # ---- requests while it runs

    def request(self, command: str, arguments: Mapping[str, Any], body: type[Body]) -> Body:
        """Send any DAP request and return its body. Raises RequestRefused."""
        return self._client.request(command, arguments, body)

    def threads(self) -> list[Thread]:
        """Return the program's threads. Raises RequestRefused."""
        return self.request("threads", {}, ThreadsBody).threads

    def resume(self, command: StepCommand, thread_id: int, how: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Resume a thread; `how` are more arguments. Raises RequestRefused if it is still stopped."""
        with self.changed:
            before = dict(self.stops)
        answer = self._client.request(command, {"threadId": thread_id, **how}, ContinueBody)
        all_go_on = answer.all_threads_continued and not how.get("singleThread")
        with self.changed:
            # a stop that arrived during the request is another object, and stays
            for thread, stop in before.items():
                if self.stops.get(thread) is stop and (all_go_on or thread == thread_id):
                    del self.stops[thread]

    def stopped_threads(self, threads: Sequence[Thread]) -> list[int]:
        """Return the ids of those of the program's threads that are stopped."""
        if any(stop.all_threads_stopped for stop in self.stops.values()):
            return [each.id for each in threads]
        return list(self.stops)

    def go_on(self, thread_id: int) -> None:
        """Continue a thread with the others of its process. Raises RequestRefused."""
        self.resume("continue", thread_id)

    def steps_alone(self, command: StepCommand, thread_id: int) -> bool:
        """Whether other processes of the program stay stopped during a command."""
        return False

    def named(self, thread_id: int) -> str:
        """Return what is resumed where others stay stopped, for users."""
        return "this thread"

    def where_others_are(self, thread_id: int) -> str:
        """Return the process of a thread and where the others are; "" where there is one."""
        return ""

    def pause(self) -> None:
        """Request a stop of every thread; `wait` then returns. Raises RequestRefused."""
        threads = self.threads()
        self.request("pause", {"threadId": threads[0].id if threads else 1}, msgspec.Raw)

    def wait(self, single_thread: int | None = None, seconds: float | None = None) -> Stopped | None:
        """Return the next stop; None when the program or `single_thread` ends, or after `seconds`.

        Raises KeyboardInterrupt at Ctrl-C.
        """
        with waiting_on(self.changed):
            self.changed.wait_for(lambda: self.stops or self.ended or single_thread in self.exited, seconds)
            return None if self.ended else next(iter(self.stops.values()), None)

    # ---- the end

    def close(self) -> None:
        """End the program if it still runs and `terminates`, and the adapter."""
        if not self.ended:
            with suppress(RequestRefused, TimeoutError):
                self._client.send("disconnect", {"terminateDebuggee": self.terminates}).result(5)
        self._client.close()
        if self._process is not None:
            try:
                code = self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                code = self._process.wait()
            if self.exit_code is None:
                self.exit_code = code

    # ---- on the reader thread

    def _event(self, name: str, body: msgspec.Raw) -> None:
        if name == "stopped":
            stop = msgspec.json.decode(body, type=Stopped)
            with self.changed:
                self.stops[stop.thread_id] = stop
                self.changed.notify_all()
        elif name == "thread":
            news = msgspec.json.decode(body, type=ThreadChange)
            if news.reason == "exited":
                with self.changed:
                    self.exited.add(news.thread_id)
                    self.changed.notify_all()
        elif name == "output":
            self._on_output(msgspec.json.decode(body, type=Output))
        elif name == "breakpoint":
            change = msgspec.json.decode(body, type=BreakpointChange)
            self._on_breakpoint(change.breakpoint)
        elif name == "initialized":
            self._initialized.set()
        elif name == "exited":
            self.exit_code = msgspec.json.decode(body, type=Exited).exit_code
        elif name == "terminated":
            self._finish()

    def _reverse_request(self, command: str, arguments: msgspec.Raw) -> dict[str, Any]:
        if command != "runInTerminal":
            raise RequestRefused(f"a terminal cannot serve `{command}`")
        launch = msgspec.json.decode(arguments, type=RunInTerminal)
        environment = dict(os.environ)
        for variable, value in (launch.env or {}).items():
            if value is None:
                environment.pop(variable, None)
            else:
                environment[variable] = value
        try:
            self._process = subprocess.Popen(
                launch.args,
                cwd=launch.cwd or None,
                env=environment,
                stdin=None if self._share_stdin else subprocess.DEVNULL,
                # Ctrl-C must not reach it, and debugpy's launcher would become the terminal's foreground group
                start_new_session=True,
            )
        except OSError as error:
            raise RequestRefused(f"cannot run {launch.args[0]}: {error.strerror}") from error
        return {"processId": self._process.pid}

    def _closed(self) -> None:
        self._initialized.set()
        self._finish()

    def _finish(self) -> None:
        with self.changed:
            self.ended = True
            self.stops.clear()
            self.changed.notify_all()
