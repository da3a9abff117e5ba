"""Read messages as LSP frames them, serve one client over two streams, and end in time.

A thread reads, so that what has arrived is known while a request is served: the documents and requests of a client that
has sent `exit` are not looked at any more, and a request that is cancelled before its turn costs nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from dynascope_lsp.protocol.answering import Message, Protocol
from dynascope_lsp.protocol.decoding import Malformed, decoded

CONTENT_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,15})\s*", re.IGNORECASE)
PIECE = 1 << 20
"""The most bytes that are read at once: a length that is not so must not take memory."""

SECONDS_TO_END = 1.0
"""Seconds after `exit` in which what goes on may end; then the process ends anyway."""


def bodies(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the body of each message until the stream ends; skip lines that are no header."""
    length: int | None = None
    while line := stream.readline(PIECE):
        found = CONTENT_LENGTH.fullmatch(line)
        if found is not None:
            length = int(found.group(1))
        elif not line.strip() and length is not None:
            body = _read(stream, length)
            if body is None:
                return
            yield body
            length = None


def _read(stream: BinaryIO, length: int) -> bytes | None:
    """Return so many bytes; None if the stream ends before."""
    pieces = []
    while length > 0:
        piece = stream.read(min(length, PIECE))
        if not piece:
            return None
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


class ClientOutput:
    """What is written to the client; nothing any more once the client has gone away."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        with suppress(OSError, ValueError):  # the end of its input is seen, too
            self._stream.write(data)
            self._stream.flush()

    def close(self) -> None:
        """Leave it open: it ends with the process."""


class ClientConnection:
    """The messages of a client, handled one after another."""

    def __init__(self, protocol: Protocol, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._protocol = protocol
        self._incoming = incoming
        self._waiting: deque[Message] = deque()
        self._is_over = False
        self.exit_code = 1
        """0 if the client has asked for `shutdown` before `exit`, as LSP wants it."""
        protocol.set_writer(ClientOutput(outgoing))

    async def serve(self) -> None:
        """Handle messages until `exit`, or the end of the stream."""
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        threading.Thread(target=self._read, name="client", daemon=True).start()
        while self._waiting or not self._is_over:
            if self._waiting:
                self._protocol.accept(self._waiting.popleft())
                await asyncio.sleep(0)  # what has arrived meanwhile, and the answers of tasks
            else:
                self._news.clear()
                await self._news.wait()

    def _read(self) -> None:
        """Read on a thread until `exit`."""
        for body in bodies(self._incoming):
            try:
                message = decoded(body)
            except Malformed as problem:
                self._call(self._protocol.malformed, problem)
                continue
            method = message.get("method")
            if method == types.SHUTDOWN and "id" in message:
                self.exit_code = 0
            elif method == types.EXIT and "id" not in message:
                self._end_in_time()
                self._call(self._exit)
                return
            self._call(self._arrived, message)
        self._call(self._ended)

    def _call(self, function: Any, *arguments: Any) -> None:
        with suppress(RuntimeError):  # where the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)

    def _end_in_time(self) -> None:
        timer = threading.Timer(SECONDS_TO_END, os._exit, (self.exit_code,))
        timer.daemon = True
        timer.start()

    def _arrived(self, message: Message) -> None:
        cancelled = _cancelled(message)
        for each in self._waiting if cancelled is not None else ():
            if each.get("id") == cancelled and "method" in each:
                self._waiting.remove(each)
                self._protocol.refuse(each, JsonRpcRequestCancelled("The request was cancelled"))
                return
        self._waiting.append(message)
        self._news.set()

    def _exit(self) -> None:
        """Answer what waits, and look at nothing more."""
        waiting = [each for each in self._waiting if "id" in each and "method" in each]
        self._waiting.clear()
        for each in waiting:
            if each["method"] == types.SHUTDOWN:
                self._protocol.accept(each)
            else:
                self._protocol.refuse(each, JsonRpcRequestCancelled("The client has sent `exit`"))
        self._ended()

    def _ended(self) -> None:
        self._is_over = True
        self._news.set()


def _cancelled(message: Message) -> Any:
    """Return the id of the request that a message cancels; None for any other message."""
    params = message.get("params")
    if message.get("method") != types.CANCEL_REQUEST or "id" in message or not isinstance(params, dict):
        return None
    return params.get("id")
