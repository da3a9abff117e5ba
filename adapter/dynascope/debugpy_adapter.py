"""Run debugpy's debug adapter with a client port that requires the session's token.

debugpy's own adapter opens that port for the sessions of child processes, on loopback, and lets every process of the
machine attach there or launch programs. It is started by Dynascope's adapter (DAP on stdin and stdout), and by
`dynascope.listen()` (`--for-program`: the program connects to it, it writes its ports to stdout as JSON, and it
outlives clients). The token for clients is in the environment variable DYNASCOPE_TOKEN, which Dynascope's adapter sends
before its first message. The ports on which debugpy's launcher and programs connect refuse other users.
"""

from __future__ import annotations

import json
import os
import runpy
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from dynascope import debugpy_injector, debugpy_launcher
from dynascope.wire import token_server
from dynascope.wire.peer_user import is_another_user

FOR_PROGRAM = "--for-program"
TOKEN_VARIABLE = "DYNASCOPE_TOKEN"
MODE = "debugpy"
"""The mode in a client's first line."""
CONNECT_SECONDS = 30.0
"""Seconds that the program has to connect; after that it is taken to have ended."""


def main() -> None:
    """Serve until the last debug session has ended."""
    _describe_environment_only_in_a_log()
    if sys.argv[1:] == [FOR_PROGRAM]:
        _serve_program(os.environ.pop(TOKEN_VARIABLE))
        return
    _report_no_sockets()  # imports debugpy before the settings arrive, to save that time
    debugpy_launcher.use()
    debugpy_injector.use()
    if hasattr(os, "fork"):
        debugpy_launcher.fork()
    os.environ.update(_settings())
    _want_token(os.environ.pop(TOKEN_VARIABLE))
    _refuse_other_users()
    runpy.run_module("debugpy.adapter", run_name="__main__")


def _settings() -> dict[str, str]:
    """Read the variables to add to the environment: a line of JSON before the first message."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit()  # the adapter has ended, or its session has no debugpy
        line += byte
    settings: dict[str, str] = json.loads(line)
    return settings


def _describe_environment_only_in_a_log() -> None:
    """Do not read the metadata of every installed package at each start, when nothing is logged."""
    from debugpy.common import log

    if log.log_dir is None:
        log.describe_environment = lambda header: None


def _report_no_sockets() -> None:
    """Replace debugpy.adapter.sessions.report_sockets with nothing (debugpy 1.8.17).

    While the launcher's port is closed and still known it raises an error. A launch can come so far before the main
    thread reports the client's port; the process ended then. No client gets this event from Dynascope's adapter.
    """
    from debugpy.adapter import clients, sessions  # noqa: F401  # sessions needs clients

    sessions.report_sockets = lambda: None


def _want_token(token: str) -> None:
    """Replace debugpy.adapter.clients.serve, which opens the port for clients (debugpy 1.8.17)."""
    from debugpy.adapter import clients

    def welcome(mode: str, connection: socket.socket) -> None:
        if mode != MODE:
            raise token_server.ServingRefused(f"only {MODE} is served here")
        token_server.accept(connection)
        clients.Client(connection)

    def serve(host: str, port: int | None) -> Any:
        server = token_server.TokenServer((host, port or 0), token, welcome, _start_thread)
        clients.listener = server.socket
        return server.socket.getsockname()[:2]

    clients.serve = serve


def _refuse_other_users() -> None:
    """Replace debugpy.common.sockets.serve, which opens the other ports (debugpy 1.8.17)."""
    from debugpy.common import sockets

    serve = sockets.serve

    def serve_this_user(name: str, handler: Callable[[socket.socket], Any], *address: Any, **more: Any) -> Any:
        def handle(connection: socket.socket) -> None:
            try:
                peer, own = connection.getpeername()[:2], connection.getsockname()[:2]
            except OSError:  # it is closed already
                connection.close()
                return
            if is_another_user(peer, own) and not _is_from_descendant(peer, own):
                connection.close()
            else:
                handler(connection)

        return serve(name, handle, *address, **more)

    sockets.serve = serve_this_user


def _is_from_descendant(peer: tuple[str, int], own: tuple[str, int]) -> bool:
    """Whether a child of a debugged process has connected: root's children may be other users'."""
    import psutil  # type: ignore[import-untyped]
    from debugpy.adapter import servers

    for server in servers.connections():
        try:
            for child in psutil.Process(server.pid).children(recursive=True):
                if any((each.laddr, each.raddr) == (peer, own) for each in child.net_connections("tcp")):
                    return True
        except psutil.Error:
            continue
    return False


def _serve_program(token: str) -> None:
    """Write the ports of the program and of its clients to stdout, and serve until both ended."""
    if os.fork() != 0:  # so that this process is not a child of the program
        os._exit(0)
    from debugpy import adapter
    from debugpy.adapter import clients, servers, sessions
    from debugpy.common import sockets

    _report_no_sockets()
    # not the session's token: command lines of the program's children show this one to every user of the machine
    adapter.access_token = secrets.token_hex(32)
    _want_token(token)
    _refuse_other_users()
    localhost = sockets.get_default_localhost()
    ports = {"clients": clients.serve(localhost, 0), "program": servers.serve(localhost)}
    print(json.dumps({**ports, "program_token": adapter.access_token}), flush=True)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    _start_thread("dynascope deadline", _end_without_program)
    servers.wait_until_disconnected()
    sessions.wait_until_ended()


def _end_without_program() -> None:
    """End this process when no program has connected in time."""
    from debugpy.adapter import servers

    time.sleep(CONNECT_SECONDS)
    if not servers.connections():
        servers.dont_wait_for_first_connection()


def _start_thread(name: str, target: Callable[[], None]) -> None:
    threading.Thread(target=target, name=name, daemon=True).start()


if __name__ == "__main__":
    main()
