"""A message is sent whole, whatever signal handlers raise meanwhile, and what they raise is not lost."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator

import pytest
from dynascope.wire.channel import Channel
from dynascope.wire.from_agent import ConsoleOutput

LONG = "x" * (8 << 20)
"""More than a socket takes at once."""


@pytest.fixture
def handled() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR2)
    yield
    signal.signal(signal.SIGUSR2, before)


@pytest.mark.parametrize("kind", [TimeoutError, OSError, ValueError, KeyboardInterrupt])
def test_what_a_handler_raises_in_a_send_reaches_the_program(kind: type[BaseException], handled: None) -> None:
    def raises(number: int, frame: object) -> None:
        raise kind("too late")

    signal.signal(signal.SIGUSR2, raises)
    ours, theirs = socket.socketpair()
    channel = Channel(ours, lambda message: None, lambda: None)
    read = bytearray()

    def interrupt_and_read() -> None:
        read.extend(theirs.recv(1))  # the send has begun, and cannot end before the rest is read
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        while not read.endswith(b"\n"):
            read.extend(theirs.recv(1 << 20))

    reader = threading.Thread(target=interrupt_and_read, daemon=True)
    reader.start()
    with pytest.raises(kind, match="too late"):
        channel.send(ConsoleOutput(category="console", output=LONG))
        for _ in range(1_000_000):  # the handler may run just after the send
            pass
    reader.join(30)
    assert LONG.encode() in read and not reader.is_alive()
    ours.close()
    theirs.close()


def test_a_send_to_nobody_does_nothing() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours, lambda message: None, lambda: None)
    theirs.close()
    channel.send(ConsoleOutput(category="console", output=LONG))
    ours.close()
