"""Follow messages through the code: adapter, agent and language server run in this process, and are watched.

A hop is a function of ours that a message passes through on its way: one on the stack where it is sent on, or where
what was asked takes effect (the landmarks of a journey). Functions that are only asked something are none.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import os
import pkgutil
import re
import socket
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import torch._dynamo
from dynascope.agent.recorder.process import _Recording
from dynascope.agent.session.agent import Agent
from dynascope.agent.suspension.own_loop import OwnLoop
from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.client.client import Client
from dynascope.dap.program.without_debugpy import ProgramAlone
from dynascope.dap.protocol.connection import Transport
from dynascope.dap.protocol.envelope import Envelope
from dynascope.dap.serving import Serving
from dynascope.dap.session import DapSession
from dynascope.facts.launches import LAUNCH_VARIABLE
from dynascope.wire import channel
from dynascope.wire.from_agent import Reply
from dynascope.wire.messages import Request, ToAgent
from dynascope.wire.to_agent import Detach
from dynascope_lsp.protocol.connection import ClientOutput
from dynascope_lsp.serving import create_server

from tests.support.dap.client import DapClient
from tests.support.marks import load

JOURNEYS = {
    "A breakpoint": (
        "SetBreakpoints",
        "dynascope.agent.breakpoints.kinds.trace_stops.LineStops.use",
        "Reply to SetBreakpoints",
        "response setBreakpoints",
        "dynascope.agent.breakpoints.kinds.trace_stops.LineStops.stops_at",
        "Stopping",
        "event stopped",
    ),
    "A scope": (
        "Scopes",
        "dynascope.agent.suspension.own_loop.OwnLoop.post",
        "dynascope.agent.inspection.stop_inspection.StopInspection._scope",
        "response scopes",
        "Variables",
        "dynascope.agent.inspection.stop_inspection.to_variable",
        "Reply to Variables",
        "response variables",
    ),
    "What if": (
        "Evaluate",
        "dynascope.agent.suspension.own_loop.OwnLoop.post",
        "dynascope.agent.tracing.what_if.what_if.trial",
        "Reply to Evaluate",
        "response evaluate",
    ),
    "A step back": (
        "PrepareTravel",
        "dynascope.agent.suspension.own_loop.OwnLoop.post",
        "dynascope.agent.tracing.time_travel.travel.ToPosition.__init__",
        "Resume",
        "dynascope.agent.suspension.own_loop.OwnLoop.resume",
        "response stepBack",
        "dynascope.agent.tracing.time_travel.travel.ToPosition.at_instruction",
        "Stopping",
        "event stopped",
    ),
    "A fact": (
        "dynascope.agent.recorder.compile_recording.CompileRecording._add_break",
        "dynascope.facts.writer.Writer._insert",
        "dynascope.explain.graph_breaks._problem",
        "dynascope_lsp.features.diagnostics._diagnostic",
        "textDocument/publishDiagnostics",
    ),
}
"""The landmarks of each: functions, and messages by their type or DAP's name."""
PROGRAM = """\
import torch


def f(x):
    y = x + 1
    z = y * 2
    torch._dynamo.graph_break()
    return y + z
"""
LINE_STOPPED_AT = 6
_SENDS = (
    "dynascope.wire.channel.encode",
    "dynascope.dap.protocol.connection.encode",
    "dynascope_lsp.protocol.connection.ClientOutput.write",
)
"""The functions by which each message is sent, their last argument."""
_WAITS = "agent/suspension/own_loop.py wait"
"""Where a stopped thread serves requests: what led there was the way of another message."""
_OURS = re.compile(r"/(?:adapter/dynascope|lsp/dynascope_lsp)/(.+\.py)$")


class Watch:
    """Note the ways that led to the landmarks of the journey in progress."""

    def __init__(self) -> None:
        self.journeys = dict[str, dict[str, list[str]]]()
        self._now: dict[str, list[str]] = {}
        self._asked: dict[int, str] = {}
        """What the agent was asked, by the number of the request."""
        self._landmarks: tuple[str, ...] = ()

    def begin(self, journey: str) -> None:
        self._now = self.journeys[journey] = {}
        self._landmarks = JOURNEYS[journey]

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Have each landmark, and each function that sends, say that it is called."""
        functions = {each for landmarks in JOURNEYS.values() for each in landmarks if "." in each}
        with contextlib.ExitStack() as stack:
            for target in sorted(functions.union(_SENDS)):
                holder, _, name = target.rpartition(".")
                of = pkgutil.resolve_name(holder)
                stack.enter_context(mock.patch.object(of, name, self._noting(target, vars(of)[name])))
            yield

    def _noting(self, target: str, original: Any) -> Any:
        @functools.wraps(original)
        def call(*arguments: Any, **named: Any) -> Any:
            landmark = self._message(arguments[-1]) if target in _SENDS else target
            if landmark in self._landmarks and landmark not in self._now:
                way = _way(sys._getframe(1))
                self._now[landmark] = way if target in _SENDS else [*way, str(_name(original.__code__))]
            return original(*arguments, **named)

        return call

    def _message(self, sent: Any) -> str:
        """Return what is sent: its type between adapter and agent, and its name in DAP or LSP."""
        if isinstance(sent, bytes):
            method = re.search(rb'"method": ?"(.+?)"', sent)
            return "" if method is None else method[1].decode()
        if isinstance(sent, Envelope):
            return f"{sent.type} {sent.command or sent.event}"
        if isinstance(sent, Request):
            self._asked[sent.id] = type(sent).__name__
        return f"Reply to {self._asked.get(sent.id)}" if isinstance(sent, Reply) else type(sent).__name__

    def hops(self) -> dict[str, list[str]]:
        """Return the functions on the way of each journey, each once."""
        found = {}
        for name, ways in self.journeys.items():
            missing = [landmark for landmark in JOURNEYS[name] if landmark not in ways]
            assert not missing, f"{name} has not passed {missing}"
            found[name] = list(dict.fromkeys(hop for landmark in JOURNEYS[name] for hop in ways[landmark]))
        return found


def _name(code: types.CodeType) -> str | None:
    """Return a function of ours with its file: `dap/serving.py _read`; None for others, and for comprehensions."""
    found = _OURS.search(code.co_filename)
    *outer, name = code.co_qualname.replace(".<locals>", "").split(".")
    if found is None or name.endswith(("comp>", "<genexpr>")):
        return None
    return f"{found[1]} {outer[-1] if name == '__init__' else name}"


def _way(frame: types.FrameType | None) -> list[str]:
    """Return the functions of ours that led here since torch called them, or since the thread waited."""
    way: list[str] = []
    while frame is not None and "/torch/" not in frame.f_code.co_filename and _name(frame.f_code) != _WAITS:
        name = _name(frame.f_code)
        way += [name] if name is not None else []
        frame = frame.f_back
    return way[::-1]


class Session:
    """An adapter and an agent without debugpy, both in this process, and their client."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._to_agent, to_adapter = socket.socketpair()
        self._channel = channel.Channel(to_adapter, self._receive, lambda: None)
        self.agent = Agent(self._channel.send, OwnLoop())
        self._channel.start()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(theirs)), daemon=True)
        self._thread.start()
        self.client = DapClient(ours.makefile("rb"), ours.makefile("wb"))
        self.client.request("initialize", {"adapterID": "journeys", "pathFormat": "path"})
        address = {"host": "127.0.0.1", "port": 1}
        self.client.send("attach", {"runtime": False, "record": False, "connect": address})
        self.client.wait_for_event("initialized")
        self.agent.install()
        self.client.request("loadedSources")  # the agent answers once it is configured, and has hooked Dynamo

    def _receive(self, message: ToAgent) -> None:
        if not isinstance(message, Detach):
            self.agent.receive(message)

    async def _serve(self, side: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=self._to_agent, limit=channel.LINE_LIMIT)
        self.agent.say_hello()
        hello = channel.decode_from_agent(await reader.readline())
        connection = AgentConnection(reader, writer, hello)  # type: ignore[arg-type]
        with mock.patch.object(ProgramAlone, "_connect", mock.AsyncMock(return_value=connection)):
            await Serving(DapSession(Client(Transport(*await asyncio.open_connection(sock=side))))).serve()

    def close(self) -> None:
        self.client.close()
        self._thread.join()
        self.agent.uninstall()


def _compile(function: Any) -> None:
    torch._dynamo.reset()
    torch.compile(function, backend="eager")(torch.ones(4))


def debug(watch: Watch, program: Path) -> None:
    """Stop at a line, look around, try something, and go back."""
    session = Session()
    client, source = session.client, {"path": str(program)}

    def look_around() -> None:
        stop = client.wait_for_stop()
        frame = stop.frames()[0].id
        watch.begin("A scope")
        stop.locals(frame)
        watch.begin("What if")
        stop.evaluate("what if x.shape[0] dynamic", frame)
        watch.begin("A step back")
        stop.step("stepBack")

    try:
        watch.begin("A breakpoint")
        client.request("setBreakpoints", {"source": source, "breakpoints": [{"line": LINE_STOPPED_AT}]})
        client.request("configurationDone")
        with ThreadPoolExecutor(1) as executor:
            looked = executor.submit(look_around)
            looked.add_done_callback(lambda _: session.agent.session.end())
            _compile(load(program).f)
            looked.result()
    finally:
        session.close()


def record(watch: Watch, program: Path) -> None:
    """Record a graph break, and have an editor shown it."""
    watch.begin("A fact")
    recording = _Recording(program.parent / ".dynascope" / "facts.db", is_first=False)
    recording.begin()
    with mock.patch.dict(os.environ, {LAUNCH_VARIABLE: "journeys"}):
        _compile(load(program).f)
        recording.end()
    recording.pause()
    protocol = create_server().protocol
    protocol.set_writer(ClientOutput(io.BytesIO()))
    document = {"uri": program.as_uri(), "languageId": "python", "version": 1, "text": PROGRAM}
    initialize = {"processId": None, "rootUri": None, "capabilities": {}}
    protocol.accept({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize})
    protocol.accept({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}})
