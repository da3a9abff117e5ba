"""Serve `dynascope dap`: one session over stdin and stdout, or over one TCP connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
from ipaddress import ip_address
from pathlib import Path

from dynascope.dap import log
from dynascope.dap.client.client import Client
from dynascope.dap.log import logger
from dynascope.dap.program import process_tree
from dynascope.dap.protocol.connection import Transport, TransportOutput, new_reader, no_delay
from dynascope.dap.serving import Serving
from dynascope.dap.session import DapSession
from dynascope.wire.peer_user import is_another_user

ORDERLY, UNREADABLE = 0, 1
"""Exit codes."""

PATIENCE = 30.0
"""Seconds that a connected client has for its first message: it keeps other clients out."""


class NotLoopback(Exception):
    """The address to listen on can be reached from other machines."""


class FileOutput:
    """A regular file as the output of a transport (asyncio's streams take only pipes and sockets)."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    async def drain(self) -> None:
        return None

    def close(self) -> None:
        os.close(self._descriptor)


def serve_stdio(log_file: Path | None, verbose: bool) -> int:
    """Serve one session over stdin and stdout; return the exit code."""
    log.configure(log_file, verbose)
    # other writes to stdout must not end up between two messages
    output = os.dup(1)
    os.dup2(2, 1)
    return asyncio.run(_stdio(os.dup(0), output))


async def _stdio(source: int, target: int) -> int:
    reader = new_reader()
    if _is_file(source):
        with open(source, "rb") as whole:
            reader.feed_data(whole.read())
        reader.feed_eof()
    else:
        loop = asyncio.get_running_loop()
        file = open(source, "rb", buffering=0)  # noqa: SIM115 - the transport closes it
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return await _serve(Transport(reader, await _writer(target)))


def _is_file(descriptor: int) -> bool:
    """Whether asyncio cannot wait for it: a file, or `/dev/null`."""
    status = os.fstat(descriptor)
    return stat.S_ISREG(status.st_mode) or os.path.samestat(status, os.stat(os.devnull))


async def _writer(descriptor: int) -> TransportOutput:
    if _is_file(descriptor):
        return FileOutput(descriptor)
    loop = asyncio.get_running_loop()
    file = open(descriptor, "wb", buffering=0)  # noqa: SIM115 - the transport closes it
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _serve(transport: Transport, patience: float | None = None) -> int:
    process_tree.adopt_orphans()
    session = DapSession(Client(transport))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, session.over.set)
    return ORDERLY if await Serving(session, patience).serve() else UNREADABLE


def serve_address(host: str, port: int, log_file: Path | None, verbose: bool) -> int:
    """Listen, print the address, and serve the first client. Raises NotLoopback and OSError."""
    if host != "localhost" and not ip_address(host).is_loopback:
        raise NotLoopback(host)
    log.configure(log_file, verbose)
    return asyncio.run(_listen(host, port))


async def _listen(host: str, port: int) -> int:
    clients: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if is_another_user(writer.get_extra_info("peername")[:2], writer.get_extra_info("sockname")[:2]):
            logger.error("refused a connection from another user of this machine")
            writer.close()
            return
        server.close()  # only one client is served
        await clients.put((reader, writer))

    server = await asyncio.start_server(connected, host, port, limit=1 << 16, backlog=1)
    address = server.sockets[0].getsockname()
    print(f"Dynascope listens on {address[0]}:{address[1]}", flush=True)
    reader, writer = await clients.get()
    no_delay(writer)
    logger.info("a client connected from %s", writer.get_extra_info("peername"))
    return await _serve(Transport(reader, writer), PATIENCE)
