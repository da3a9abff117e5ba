"""A DAP peer: numbers what goes out, and hands each response to whoever sent the request.

`seq` counts per link. Responses are handed over on the spot, in the order they came, so that an event which debugpy
sends after a response also reaches the client after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import UNSET, Raw, UnsetType

from dynascope.dap.protocol.envelope import Envelope, decode, encode, raw
from dynascope.dap.protocol.transport import Transport

Settle = Callable[[Envelope], None]


class Connection:
    """One end of a DAP connection; the other is `transport`'s peer."""

    def __init__(self, transport: Transport, other_side: str) -> None:
        """`other_side` names the other side in errors: "the client", "debugpy"."""
        self.transport = transport
        self._other_side = other_side
        self._seq = 0
        self._pending: dict[int, Settle] = {}
        self._closed = False

    async def receive(self) -> Envelope | None:
        """The next message; None at the end. Raises TransportError or UnreadableMessage."""
        body = await self.transport.read()
        return None if body is None else decode(body)

    def send(self, envelope: Envelope) -> int:
        """Number and send a message; its new `seq` is returned."""
        self._seq += 1
        envelope.seq = self._seq
        self.transport.write(encode(envelope))
        return self._seq

    def request(self, command: str, arguments: Raw | UnsetType | object = UNSET) -> asyncio.Future[Envelope]:
        """Send a request; the future gets its response, a failed one when the peer goes away. It never raises."""
        future: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()

        def settle(response: Envelope) -> None:
            if not future.done():
                future.set_result(response)

        self.forward(command, arguments, settle)
        return future

    def forward(self, command: str, arguments: Raw | UnsetType | object, settle: Settle) -> None:
        """Send a request and have `settle` called with its response, within the reading of it."""
        if not isinstance(arguments, (Raw, UnsetType)):
            arguments = raw(arguments)
        if self._closed:
            settle(self._gone(command))
            return
        self._pending[self.send(Envelope("request", 0, command=command, arguments=arguments))] = settle

    def settle(self, response: Envelope) -> bool:
        """Hand a response to its request; False when nobody asked."""
        settle = None if response.request_seq is UNSET else self._pending.pop(response.request_seq, None)
        if settle is not None:
            settle(response)
        return settle is not None

    def close(self) -> None:
        """Close the connection; every request still open fails."""
        self._closed = True
        self.transport.close()
        pending, self._pending = self._pending, {}
        for settle in pending.values():
            settle(self._gone("?"))

    def _gone(self, command: str) -> Envelope:
        return Envelope(
            "response", 0, command=command, success=False, message=f"{self._other_side} has closed the connection."
        )
