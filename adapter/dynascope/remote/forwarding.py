"""A port of this machine that leads to a program on another, and the token that a debugger finds for it here."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator

from msgspec import structs

from dynascope.remote.hosts import Host, Unreachable
from dynascope.wire import listening
from dynascope.wire.listening import ListeningProgram

_SECONDS = 0.05
"""Between two attempts to connect."""
_TO_END = 5.0
"""Seconds that a forward has for its end."""


@contextlib.contextmanager
def forwarded(host: Host, program: ListeningProgram) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Forward a port to a program: yield it, and the process that does so. Raises Unreachable.

    Whoever debugs on this machine finds the token in a file, as that of a program which listens here.
    """
    port = _free_port(program.port)
    command = host.forward(port, program)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        _wait_for(port, process, host)
        path = listening.leave(structs.replace(program, host="127.0.0.1", port=port, pid=os.getpid()))
        try:
            yield port, process
        finally:
            path.unlink(missing_ok=True)
    finally:
        process.terminate()
        try:
            process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port(wanted: int) -> int:
    """Return a port on which nothing listens here: the wanted one if possible."""
    for port in (wanted, 0):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as server:
            return int(server.getsockname()[1])
    raise Unreachable("This machine has no free port.")


def _wait_for(port: int, process: subprocess.Popen[bytes], host: Host) -> None:
    """Wait until the port is open, however long the user takes for a password."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(_SECONDS)
    raise Unreachable(f"The port of the program on {host.name} cannot be forwarded: see above.")
