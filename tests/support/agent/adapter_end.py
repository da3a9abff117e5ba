"""The adapter's end of an agent's channel, for tests of whole processes."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from dynascope.wire.channel import decode_from_agent, encode
from dynascope.wire.from_agent import Failure, Hello, Reply
from dynascope.wire.messages import FromAgent, Message, Request

TIMEOUT = 120.0
Kind = TypeVar("Kind")


class AgentClosed(Exception):
    """The agent's end of the channel is closed."""


class AdapterEnd:
    """Reads on a thread of its own; `expect` takes messages in the order they came, passing over others."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._messages: queue.Queue[FromAgent | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self.connection.makefile("rb"):
                self._messages.put(decode_from_agent(line))
        except OSError:
            pass
        self._messages.put(None)

    def send(self, message: Message) -> None:
        self.connection.sendall(encode(message))

    def expect(self, kind: type[Kind], such: Callable[[Kind], bool] = lambda message: True) -> Kind:
        while True:
            message = self._messages.get(timeout=TIMEOUT)
            if message is None:
                raise AgentClosed
            if isinstance(message, kind) and such(message):
                return message

    def ask(self, request: type[Request], **fields: Any) -> Reply | Failure:
        self._number += 1
        number = self._number
        self.send(request(id=number, **fields))
        return self.expect((Reply, Failure), lambda message: message.id == number)  # type: ignore[arg-type, return-value]

    def vanish(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Doorway:
    """Where agents that connect back arrive; they begin with the token's line."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(TIMEOUT)
        self.address = f"tcp:127.0.0.1:{self._server.getsockname()[1]}"

    def accept(self, token: str) -> tuple[AdapterEnd, Hello]:
        connection, _ = self._server.accept()
        line = b""
        while not line.endswith(b"\n"):
            line += connection.recv(1)
        assert line == token.encode() + b"\n"
        adapter = AdapterEnd(connection)
        return adapter, adapter.expect(Hello)

    def close(self) -> None:
        self._server.close()
