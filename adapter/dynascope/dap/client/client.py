"""The client of a session: what it has said, which outlives programs, and how it is answered."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw, UnsetType

from dynascope.dap.client.breakpoint_table import BreakpointTable
from dynascope.dap.protocol.arguments import InitializeArguments, SetExceptionBreakpointsArguments
from dynascope.dap.protocol.call import Call
from dynascope.dap.protocol.connection import Connection
from dynascope.dap.protocol.envelope import Envelope, raw
from dynascope.dap.protocol.transport import Transport


class Client(Connection):
    """The editor, or whoever else speaks DAP with us."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, "the client")
        self.arguments: InitializeArguments | None = None
        """Of `initialize`; None before it."""
        self.initialize_arguments: dict[str, Any] = {}
        """The same as they came, to pass on."""
        self.breakpoints = BreakpointTable()
        self._exception_ids: dict[str, int] = {}
        self.exception_filters: SetExceptionBreakpointsArguments | None = None
        """The arguments of the last `setExceptionBreakpoints`."""
        self.knows_of_children = False
        """It has been told that it cannot debug child processes."""
        self.settled = False
        """It has sent configurationDone: from now on a new program is configured from what we know."""

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
        """Whether it asks for variables by `start` and `count` where it is told how many there are."""
        return self.arguments is not None and self.arguments.supports_variable_paging

    def exception_id(self, filter: str) -> int:
        """The id of the breakpoint that an exception filter with its condition is."""
        if filter not in self._exception_ids:
            self._exception_ids[filter] = self.breakpoints.new_id()
        return self._exception_ids[filter]

    def respond(self, call: Call[Any], response: Envelope) -> None:
        """Send a response, ours or one of debugpy's, as the answer to `call`."""
        response.type, response.request_seq, response.command = "response", call.seq, call.command
        self.send(response)

    def succeed(self, call: Call[Any], body: object = None) -> None:
        """Answer `call` with a body: a struct, a dict, raw JSON, or None for none."""
        self.respond(call, Envelope("response", 0, success=True, body=_encoded(body)))

    def refuse(self, seq: int, command: str, reason: str) -> None:
        """Answer the request number `seq` with an error for the user."""
        # id 1 stands for all our errors: clients only need it to be there; showUser is theirs to decide
        body = raw({"error": {"id": 1, "format": reason.replace("{", "(").replace("}", ")")}})
        self.send(Envelope("response", 0, request_seq=seq, command=command, success=False, message=reason, body=body))

    def event(self, name: str, body: object = None) -> None:
        self.send(Envelope("event", 0, event=name, body=_encoded(body)))


def _encoded(body: object) -> Raw | UnsetType:
    if body is None:
        return UNSET
    return body if isinstance(body, Raw) else raw(body)
