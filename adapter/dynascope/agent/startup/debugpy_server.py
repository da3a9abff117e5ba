"""debugpy in a program that listens: as `debugpy.listen()`, but it requires the token."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from dynascope import debugpy_adapter
from dynascope.agent.suspension.pydevd import is_loaded
from dynascope.wire import channel, token_server


class DebugpyUnavailable(Exception):
    """debugpy cannot serve this process; the text is the reason for the user."""


class DebugpyServer:
    """Run debugpy's debug adapter in another process, with this process connected to it."""

    def __init__(self) -> None:
        """Raise DebugpyUnavailable if debugpy cannot serve this process."""
        try:
            from debugpy.server import api
        except ImportError as error:
            raise DebugpyUnavailable(f"debugpy cannot be imported ({error})") from None
        if api.listen.called or is_loaded():
            raise DebugpyUnavailable("another debugger (Jupyter's, VS Code's) uses debugpy in this process already")
        self._token = channel.new_token()
        self._clients = _start(self._token, api)

    def connect(self) -> socket.socket:
        """Open a connection on which debugpy's adapter speaks DAP. Raises OSError."""
        connection = socket.create_connection(self._clients)
        try:
            token_server.ask(connection, self._token, debugpy_adapter.MODE)
        except OSError:
            connection.close()
            raise
        return connection


def _start(token: str, api: Any) -> tuple[str, int]:
    """Start the adapter, connect this process to it, and return its address for clients."""
    adapter = subprocess.Popen(
        [sys.executable, "-P", "-m", debugpy_adapter.__name__, debugpy_adapter.FOR_PROGRAM],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=_environment(token),
        start_new_session=True,  # so that Ctrl-C in the program's terminal does not reach it
    )
    assert adapter.stdout is not None
    with adapter.stdout as output:
        line = output.readline()
    adapter.wait()
    try:
        ports = json.loads(line)
    except ValueError:
        raise DebugpyUnavailable(f"debugpy's adapter did not start with {sys.executable}") from None

    # the last steps of api.listen, with the token for programs (debugpy 1.8.17 or newer)
    @api._starts_debugging  # type: ignore[untyped-decorator]
    def connect(address: tuple[str, int], settrace_kwargs: dict[str, Any]) -> None:
        host, port = address
        api._settrace(
            host=host,
            port=port,
            wait_for_ready_to_run=False,
            block_until_connected=True,
            client_access_token=ports["program_token"],
            **settrace_kwargs,
        )

    connect(tuple(ports["program"]))
    api.listen.called = True  # so that debugpy.listen() raises instead of hanging
    host, port = ports["clients"]
    return host, port


def _environment(token: str) -> dict[str, str]:
    """Return the environment in which the adapter finds its token, dynascope and debugpy."""
    import debugpy

    folders = [str(Path(file).parents[1]) for file in (debugpy_adapter.__file__, debugpy.__file__)]
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, debugpy_adapter.TOKEN_VARIABLE: token, "PYTHONPATH": path}
