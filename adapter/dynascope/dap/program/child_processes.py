"""Child processes of the debugged program: each becomes a debug session of its own, or runs on undebugged.

debugpy stops every child until a client attaches to it. A client that supports `startDebugging` is asked to start a
`dynascope` session for it (one per rank, under torchrun). For other clients, and for processes that torch starts and
the agent has not kept debugpy out of, the adapter attaches and disconnects; else the program waits a minute for each.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dynascope import debugpy_adapter
from dynascope.dap.agent_channel.agent_connection import open_listener
from dynascope.dap.client.client import Client
from dynascope.dap.log import logger
from dynascope.dap.protocol.call import RequestError, TransportError
from dynascope.dap.protocol.connection import Connection, Transport, connect
from dynascope.dap.protocol.envelope import UnreadableMessage
from dynascope.dap.protocol.launch_arguments import Address
from dynascope.wire.command_lines import is_torchs

RUNS_ON = (
    "dynascope: child process {} is not debugged, nor are later ones: this client starts no sessions for them "
    "(startDebugging).\n"
)
TIMEOUT = 20.0


async def attend(
    client: Client, configuration: dict[str, Any], inherited: dict[str, object], token: str | None
) -> bool:
    """Handle debugpy's `debugpyAttach` event, and return whether the client started a session.

    The event's body is the child's attach configuration.

    `inherited` are arguments of the parent that the child's configuration gets too; `token` is for debugpy's port.
    """
    if _is_helper(configuration["subProcessId"]):
        await let_run(configuration, token)
        return False
    if client.starts_sessions:
        child = of_child(configuration, inherited, token)
        response = await client.request("startDebugging", {"request": "attach", "configuration": child})
        if response.success:
            return True
        logger.warning("the client did not start a session for a child process: %s", response.message)
    elif not client.knows_of_children:
        client.knows_of_children = True
        told = RUNS_ON.format(configuration["subProcessId"])
        client.event("output", {"category": client.category("console"), "output": told})
    await let_run(configuration, token)
    return False


def of_child(configuration: dict[str, Any], inherited: dict[str, object], token: str | None) -> dict[str, Any]:
    """Return the configuration of a child's session."""
    child = configuration | {"type": "dynascope", "request": "attach", **inherited, "name": name(configuration)}
    child.pop("env", None)  # the parent's `launch` had it; the child runs already, and may have secrets in it
    return child if token is None else child | {"token": token}


def name(configuration: dict[str, Any]) -> str:
    """Return "Rank 1 (pid 4711)" for a rank of a distributed job, else debugpy's name."""
    pid = configuration["subProcessId"]
    rank = _environment(pid).get("RANK")
    return str(configuration["name"]) if rank is None else f"Rank {rank} (pid {pid})"


def local_rank(pid: int) -> int | None:
    """Return the local rank of a process (`LOCAL_RANK` of torchrun); None where it is no rank."""
    number = _environment(pid).get("LOCAL_RANK", "")
    return int(number) if number.isdecimal() and not _is_helper(pid) else None


def _environment(pid: int) -> dict[str, str]:
    import psutil  # type: ignore[import-untyped]

    try:
        return dict(psutil.Process(pid).environ())
    except psutil.Error:
        return {}


def _is_helper(pid: int) -> bool:
    import psutil  # type: ignore[import-untyped]

    try:
        line = " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return False
    return is_torchs(line)


async def let_run(configuration: dict[str, Any], token: str | None) -> None:
    """Attach to the child and disconnect again."""
    address = Address(**configuration["connect"])
    try:
        if token is None:
            reader, writer = await connect(address.host, address.port)
        else:
            reader, writer = await open_listener(address, token, debugpy_adapter.MODE)
    except (OSError, RequestError) as error:
        logger.warning("a child process may wait for a debugger: %s", error)
        return
    connection = Connection(Transport(reader, writer), "debugpy")
    initialized = asyncio.Event()
    read_task = asyncio.ensure_future(_read(connection, initialized))
    try:
        async with asyncio.timeout(TIMEOUT):
            await connection.request("initialize", {"adapterID": "debugpy"})
            attached = connection.request("attach", configuration)
            # debugpy takes configurationDone once it has sent `initialized`; the answer to `attach` comes after both
            await initialized.wait()
            await connection.request("configurationDone")
            await attached
            await connection.request("disconnect", {"terminateDebuggee": False})
    except TimeoutError:
        logger.warning("debugpy did not release child process %s", configuration.get("subProcessId"))
    finally:
        connection.close()
        read_task.cancel()


async def _read(connection: Connection, initialized: asyncio.Event) -> None:
    try:
        while (message := await connection.receive()) is not None:
            if message.type == "response":
                connection.settle(message)
            elif message.event in ("initialized", "terminated"):
                initialized.set()
    except (TransportError, UnreadableMessage) as error:
        logger.warning("debugpy, of a child process: %s", error)
    finally:
        initialized.set()
        connection.close()
