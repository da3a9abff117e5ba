"""A DAP connection: number outgoing messages, and hand each response to the sender of its request.

`seq` counts per connection. Responses are handed over as they are read, in order, so that an event which debugpy sends
after a response also reaches the client after it.
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
        """Name the other side in errors as `other_side`: "the client", "debugpy"."""
        self.transport = transport
        self.gone = f"{other_side} has closed the connection."
        """The failure of requests once the connection is closed."""
        self._seq = 0
        self._pending: dict[int, Settle] = {}
        self._closed = False

    async def receive(self) -> Envelope | None:
        """Return the next message; None at the end. Raises TransportError or UnreadableMessage."""
        body = await self.transport.read()
        return None if body is None else decode(body)

    def send(self, envelope: Envelope) -> int:
        """Number and send a message; return its `seq`."""
        self._seq += 1
        envelope.seq = self._seq
        self.transport.write(encode(envelope))
        return self._seq

    def request(self, command: str, arguments: Raw | UnsetType | object = UNSET) -> asyncio.Future[Envelope]:
        """Send a request; return a future of its response, a failed one if the connection closes."""
        future: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()

        def settle(response: Envelope) -> None:
            if not future.done():
                future.set_result(response)

        self.forward(command, arguments, settle)
        return future

    def forward(self, command: str, arguments: Raw | UnsetType | object, settle: Settle) -> None:
        """Send a request; `settle` is called with its response by the task that reads it."""
        if not isinstance(arguments, (Raw, UnsetType)):
            arguments = raw(arguments)
        if self._closed:
            settle(self._gone(command))
            return
        self._pending[self.send(Envelope("request", 0, command=command, arguments=arguments))] = settle

    def settle(self, response: Envelope) -> bool:
        """Hand a response to the sender of its request; return False if there is no such request."""
        settle = None if response.request_seq is UNSET else self._pending.pop(response.request_seq, None)
        if settle is not None:
            settle(response)
        return settle is not None

    def close(self) -> None:
        """Close the connection; every unanswered request fails."""
        self._closed = True
        self.transport.close()
        pending, self._pending = self._pending, {}
        for settle in pending.values():
            settle(self._gone("?"))

    def _gone(self, command: str) -> Envelope:
        return Envelope("response", 0, command=command, success=False, message=self.gone)
