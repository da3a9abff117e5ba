"""debugpy in a program that listens: as `debugpy.listen()`, but it requires the token."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynascope import debugpy_adapter
from dynascope.agent.suspension.debugpy.child_processes import is_loaded, unloaded
from dynascope.wire import channel, token_server


class DebugpyUnavailable(Exception):
    """debugpy cannot serve this process; the text is the reason for the user."""


class DebugpyServer:
    """Run debugpy's debug adapter in another process, with this process connected to it.

    A process has one debugger of debugpy. When another calls `debugpy.listen`, as Jupyter does where a user switches
    its debugger on, it gets the process, unless a session goes on.
    """

    def __init__(self, in_use: Callable[[], bool], given_up: Callable[[], None]) -> None:
        """Raise DebugpyUnavailable if debugpy cannot serve this process.

        `in_use` says whether a session goes on; `given_up` is called when another debugger has got the process.
        """
        try:
            from debugpy.server import api
        except ImportError as error:
            raise DebugpyUnavailable(f"debugpy cannot be imported ({error})") from None
        if api.listen.called or is_loaded():
            raise DebugpyUnavailable("another debugger (Jupyter's, VS Code's) uses debugpy in this process already")
        self._token = channel.new_token()
        self._clients = _start(self._token, api)
        _let_others_listen(api, in_use, given_up)

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
    host, port = ports["clients"]
    return host, port


def _let_others_listen(api: Any, in_use: Callable[[], bool], given_up: Callable[[], None]) -> None:
    """Replace `debugpy.server.api.listen`, which would raise an error, for its next call.

    While a session goes on it raises one that says what to do.
    """
    listen = api.listen

    @functools.wraps(listen)
    def listen_for_another(*args: Any, **kwargs: Any) -> Any:
        if in_use():
            raise RuntimeError(
                "Dynascope debugs this process, and debugpy serves one debugger. End Dynascope's session first, or "
                "have the program call dynascope.listen(runtime=False): then only compiles stop."
            )
        api.listen = listen
        given_up()
        with unloaded():
            return listen(*args, **kwargs)

    api.listen = listen_for_another


def _environment(token: str) -> dict[str, str]:
    """Return the environment in which the adapter finds its token, dynascope and debugpy."""
    import debugpy

    folders = [str(Path(file).parents[1]) for file in (debugpy_adapter.__file__, debugpy.__file__)]
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, debugpy_adapter.TOKEN_VARIABLE: token, "PYTHONPATH": path}
