"""Framing, without an adapter: what arrives in pieces is put together."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from dynascope.dap.client.client import Client
from dynascope.dap.protocol.call import TransportError
from dynascope.dap.protocol.connection import BODY_LIMIT, Transport, new_reader


class Sink:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        return None

    def close(self) -> None:
        return None


def read_all(*pieces: bytes) -> list[bytes]:
    async def run() -> list[bytes]:
        reader = new_reader()

        async def feed() -> None:
            for piece in pieces:
                reader.feed_data(piece)
                await asyncio.sleep(0)
            reader.feed_eof()

        transport = Transport(reader, Sink())
        feeding = asyncio.ensure_future(feed())
        messages = []
        while (message := await transport.read()) is not None:
            messages.append(message)
        await feeding
        return messages

    return asyncio.run(run())


def test_messages_are_put_together_from_single_bytes() -> None:
    data = b"Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x\r\n\r\n[1]"
    assert read_all(*(data[i : i + 1] for i in range(len(data)))) == [b"{}", b"[1]"]


def test_line_feeds_alone_and_empty_lines_between_messages_are_taken() -> None:
    assert read_all(b"\r\n\r\nContent-Length: 2\n\n{}") == [b"{}"]


def test_a_body_longer_than_the_buffer() -> None:
    body = b'"' + b"x" * 1_000_000 + b'"'
    assert read_all(b"Content-Length: %d\r\n\r\n" % len(body), body) == [body]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"Content-Length: %d\r\n\r\n" % (BODY_LIMIT + 1), "limit"),
        (b"Content-Length: 5\r\n\r\n{}", "2 of 5 bytes"),
        (b"Content-Le", "inside a header"),
        (b"x" * 100_000, "longer than"),
    ],
)
def test_what_is_no_dap_raises(data: bytes, words: str) -> None:
    with pytest.raises(TransportError, match=words):
        read_all(data)


def test_writing() -> None:
    sink = Sink()
    transport = Transport(asyncio.StreamReader(loop=asyncio.new_event_loop()), sink)
    transport.write("ä".encode())
    transport.close()
    transport.write(b"lost")
    assert sink.data == b"Content-Length: 2\r\n\r\n\xc3\xa4"


@pytest.mark.parametrize(("client_id", "shown"), [("vscode", "explanation"), ("nvim", "console")])
def test_explanations_have_not_the_colour_of_warnings_in_vs_code(client_id: str, shown: str) -> None:
    client = Client(cast("Transport", None))
    client.initialize_arguments = {"clientID": client_id}
    assert [*map(client.category, ("console", "important", "stdout"))] == [shown, "important", "stdout"]
