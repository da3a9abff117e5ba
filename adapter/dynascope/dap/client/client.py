"""The client of a session: its arguments, which outlive programs, the responses and events to it, and progress."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from dynascope.dap.client.breakpoint_table import BreakpointTable
from dynascope.dap.protocol.arguments import InitializeArguments, SetExceptionBreakpointsArguments
from dynascope.dap.protocol.call import Call
from dynascope.dap.protocol.connection import Connection, Transport
from dynascope.dap.protocol.envelope import Envelope, event, raw

_numbers = itertools.count(1)
PATIENCE = 1.0
"""Seconds of work that are not reported."""


class Progress:
    """Send the progress events of one session."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._requests: dict[str, int] = {}

    @property
    def is_shown(self) -> bool:
        """Whether the client shows progress (`supportsProgressReporting`)."""
        arguments = self._client.arguments
        return arguments is not None and arguments.supports_progress_reporting

    def request_of(self, progress_id: str) -> int | None:
        """Return the `seq` of the request that a progress is about; None if it is not a request's."""
        return self._requests.get(progress_id)

    @contextlib.contextmanager
    def of_request(self, seq: int, command: str) -> Iterator[None]:
        """Show the progress of a request while the block runs."""
        if not self.is_shown:
            yield
            return
        progress_ids: list[str] = []

        def start() -> None:
            progress_ids.append(self.begin(f"Dynascope: {command}", request=seq))
            self._requests[progress_ids[0]] = seq

        timer = asyncio.get_running_loop().call_later(PATIENCE, start)
        try:
            yield
        finally:
            timer.cancel()
            for progress_id in progress_ids:
                del self._requests[progress_id]
                self.end(progress_id)

    def begin(self, title: str, message: str | None = None, request: int | None = None) -> str:
        """Show a progress; return its id."""
        progress_id = f"dynascope {next(_numbers)}"
        body = {"progressId": progress_id, "title": title, "cancellable": request is not None}
        optional = {"message": message, "requestId": request}
        self._client.event("progressStart", body | {key: value for key, value in optional.items() if value is not None})
        return progress_id

    def update(self, progress_id: str, message: str) -> None:
        self._client.event("progressUpdate", {"progressId": progress_id, "message": message})

    def end(self, progress_id: str) -> None:
        self._client.event("progressEnd", {"progressId": progress_id})


class Client(Connection):
    """The editor, or another program that speaks DAP with the adapter."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "the client")
        self.arguments: InitializeArguments | None = None
        """The arguments of `initialize`; None before it."""
        self.initialize_arguments: dict[str, Any] = {}
        """The same as received, to pass on."""
        self.breakpoints = BreakpointTable()
        self._exception_ids: dict[str, int] = {}
        self.exception_filters: SetExceptionBreakpointsArguments | None = None
        """The arguments of the last `setExceptionBreakpoints`."""
        self.knows_of_children = False
        """Whether the user has been told that child processes are not debugged."""
        self.settled = False
        """Whether it has sent configurationDone: from then on the adapter configures a new program."""

    @property
    def starts_sessions(self) -> bool:
        """Whether it serves `startDebugging`."""
        return self.arguments is not None and self.arguments.supports_start_debugging_request

    @property
    def refetches(self) -> bool:
        """Whether it serves the `invalidated` event."""
        return self.arguments is not None and self.arguments.supports_invalidated_event

    @property
    def pages(self) -> bool:
        """Whether it requests variables by `start` and `count` when it knows how many there are."""
        return self.arguments is not None and self.arguments.supports_variable_paging

    def exception_id(self, filter: str) -> int:
        """Return the breakpoint id of an exception filter with its condition."""
        if filter not in self._exception_ids:
            self._exception_ids[filter] = self.breakpoints.new_id()
        return self._exception_ids[filter]

    def respond(self, call: Call[Any], response: Envelope) -> None:
        """Send a response, the adapter's or debugpy's, as the answer to `call`."""
        response.type, response.request_seq, response.command = "response", call.seq, call.command
        self.send(response)

    def refuse(self, seq: int, command: str, reason: str) -> None:
        """Answer the request number `seq` with an error for the user."""
        # clients only need the id to exist, and decide themselves about showUser
        body = raw({"error": {"id": 1, "format": reason.replace("{", "(").replace("}", ")")}})
        self.send(Envelope("response", 0, request_seq=seq, command=command, success=False, message=reason, body=body))

    def event(self, name: str, body: object = None) -> None:
        self.send(event(name, body))

    def category(self, category: str) -> str:
        """Return the category with which to send an output.

        VS Code shows those of `console` in the colour of warnings, and those of one that it does not know as others.
        """
        is_vscode = self.initialize_arguments.get("clientID") == "vscode"
        return "explanation" if category == "console" and is_vscode else category
