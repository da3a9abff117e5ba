"""The port that wants a token, as far as no second process is needed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
from dynascope.wire.token_server import MOST_WAITING, TokenServer, accept, ask


def start_thread(name: str, run: Callable[[], None]) -> None:
    threading.Thread(target=run, name=name, daemon=True).start()


@pytest.mark.matrix
def test_crowds_without_a_token_do_not_end_it():
    """More connections than may wait come and speak at once, again and again; the one with the token is served."""
    served = threading.Event()

    def serve(mode: str, connection: socket.socket) -> None:
        accept(connection)
        served.set()

    server = TokenServer(("127.0.0.1", 0), "secret", serve, start_thread)
    address = server.socket.getsockname()
    try:
        for _ in range(20):
            crowd = [socket.create_connection(address) for _ in range(2 * MOST_WAITING)]
            for stranger in crowd:
                try:
                    stranger.sendall(b"x")
                except OSError:
                    pass  # closed for a newer one
            for stranger in crowd:
                stranger.close()
        with socket.create_connection(address) as connection:
            ask(connection, "secret", "agent")
        assert served.wait(10)
    finally:
        server.close()
