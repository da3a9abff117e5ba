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
"""Between two looks whether the port is open."""
_TO_END = 5.0
"""Seconds that a forward has for its end."""


@contextlib.contextmanager
def forwarded(host: Host, program: ListeningProgram) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Forward a port to a program: yield it, and the process that does so. Raises Unreachable.

    Whoever debugs on this machine finds the token in a file, as that of a program which listens here.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
    command = host.forward(port, program)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        _wait_for(port, process, host)
        here = structs.replace(program, host="127.0.0.1", port=port, pid=os.getpid())
        listening.leave(here)
        try:
            yield port, process
        finally:
            listening.remove(here)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _wait_for(port: int, process: subprocess.Popen[bytes], host: Host) -> None:
    """Wait until that process has opened the port, however long the user takes for a password.

    Another process may have taken the port: it must not get the token.
    """
    import psutil  # type: ignore[import-untyped]

    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            open_ports = psutil.Process(process.pid).net_connections("tcp4")
            if any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in open_ports):
                return
        time.sleep(_SECONDS)
    raise Unreachable(f"The port of the program on {host.name} cannot be forwarded: see above.")
