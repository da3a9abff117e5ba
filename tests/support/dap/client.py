"""A typed DAP client for tests and benchmarks. It checks every message, in both directions, against the schema.

One reader thread per client. `DapClient.spawn()` starts an adapter; `launch` and `attach` go through the whole opening
of a session; `wait_for_stop` gives a `Stop` to look around in. A timeout raises with the transcript's end in its text.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import Breakpoint, EvaluateResult, Scope, StackFrame, Thread, Variable

from tests.support import fork_server
from tests.support.dap import schema
from tests.support.fork_server import search_path

TIMEOUT = 120.0
ADAPTER = [sys.executable, "-m", "dynascope", "dap"]

Message = dict[str, Any]
SENT: list[Message] = []
"""Every request of this process's clients, for whoever wants to know what a test has used."""
Body = dict[str, Any]
ReverseHandler = Callable[[Body], Body]


class RequestFailed(Exception):
    """The adapter answered `success: false`."""

    def __init__(self, response: Message) -> None:
        super().__init__(f"{response.get('command')}: {response.get('message')}")
        self.response = response
        self.message = str(response.get("message"))


class Disconnected(Exception):
    """The adapter closed the connection."""


@dataclass
class Pending:
    """A request that is under way."""

    seq: int
    command: str
    client: DapClient
    _answer: queue.SimpleQueue[Message | None] = field(default_factory=queue.SimpleQueue)

    def settle(self, response: Message | None) -> None:
        self._answer.put(response)

    def response(self, timeout: float = TIMEOUT) -> Message:
        """The whole response, successful or not."""
        try:
            response = self._answer.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no response to {self.command}\n{self.client.transcript()}") from None
        if response is None:
            raise Disconnected(f"no response to {self.command}\n{self.client.transcript()}")
        return response

    def body(self, timeout: float = TIMEOUT) -> Body:
        """The body of a successful response. Raises RequestFailed."""
        response = self.response(timeout)
        if not response["success"]:
            raise RequestFailed(response)
        body: Body = response.get("body") or {}
        return body


class Stop:
    """A `stopped` event, and what can be seen there."""

    def __init__(self, client: DapClient, body: Body) -> None:
        self.client = client
        self.body = body
        self.reason: str = body["reason"]
        self.thread_id: int = body["threadId"]
        self.description: str | None = body.get("description")
        self.hit_breakpoint_ids: list[int] = body.get("hitBreakpointIds", [])

    @property
    def at_compile_time(self) -> bool:
        return self.description == "Paused at compile time"

    def frames(self, start: int | None = None, levels: int | None = None) -> list[StackFrame]:
        return msgspec.convert(self.stack_trace(start, levels)["stackFrames"], list[StackFrame])

    def stack_trace(self, start: int | None = None, levels: int | None = None) -> Body:
        wanted = {"threadId": self.thread_id, "startFrame": start, "levels": levels}
        return self.client.request("stackTrace", {k: v for k, v in wanted.items() if v is not None})

    def symbolic_frames(self) -> list[StackFrame]:
        return [frame for frame in self.frames() if frame.id >= FIRST_AGENT_ID]

    def where(self) -> tuple[str, int]:
        """Name and line of the innermost frame."""
        frame = self.frames(0, 1)[0]
        return frame.name, frame.line

    def scopes(self, frame_id: int | None = None) -> dict[str, Scope]:
        if frame_id is None:
            frame_id = self.frames(0, 1)[0].id
        scopes = msgspec.convert(self.client.request("scopes", {"frameId": frame_id})["scopes"], list[Scope])
        return {scope.name: scope for scope in scopes}

    def variables(self, reference: int, **paging: Any) -> dict[str, Variable]:
        body = self.client.request("variables", {"variablesReference": reference, **paging})
        return {variable.name: variable for variable in msgspec.convert(body["variables"], list[Variable])}

    def locals(self, frame_id: int | None = None) -> dict[str, Variable]:
        return self.variables(self.scopes(frame_id)["Locals"].variables_reference)

    def evaluate(self, expression: str, frame_id: int | None = None, context: str = "repl") -> EvaluateResult:
        if frame_id is None:
            frame_id = self.frames(0, 1)[0].id
        wanted = {"expression": expression, "frameId": frame_id, "context": context}
        return msgspec.convert(self.client.request("evaluate", wanted), EvaluateResult)

    def resume(self, command: str = "continue") -> Body:
        return self.client.request(command, {"threadId": self.thread_id})

    def step(self, command: str) -> Stop:
        """`next`, `stepIn` or `stepOut`, and where that led."""
        self.resume(command)
        return self.client.wait_for_stop()


class DapClient:
    """One connection to an adapter."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, *, check: bool = True) -> None:
        """`check` False: no schema validation, for benchmarks."""
        self.process: subprocess.Popen[bytes] | None = None
        self.capabilities: Body = {}
        self.events: list[Message] = []
        self.handlers: dict[str, ReverseHandler] = {}
        self.violations: list[str] = []
        self.closed = False
        self._source, self._sink, self._check = source, sink, check
        self._seq = 0
        self._pending: dict[int, Pending] = {}
        self._changed = threading.Condition(threading.RLock())
        self._log: list[str] = []
        self._stderr = b""
        self._reader = threading.Thread(target=self._read, daemon=True, name="DAP client")
        self._reader.start()

    # ---- making one

    @classmethod
    def spawn(
        cls,
        command: Sequence[str] = ADAPTER,
        *,
        environment: Mapping[str, str] | None = None,
        folder: str | Path | None = None,
        check: bool = True,
    ) -> Self:
        """Start an adapter that speaks over stdio."""
        fork_server.wait_for_modules_of_programs()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=adapter_environment(environment),
            cwd=folder,
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None
        client = cls(process.stdout, process.stdin, check=check)  # type: ignore[arg-type]
        client.process = process
        threading.Thread(target=client._read_stderr, daemon=True).start()
        return client

    @classmethod
    def connect(cls, host: str, port: int, *, check: bool = True) -> Self:
        """Connect to an adapter that listens."""
        sock = socket.create_connection((host, port), timeout=TIMEOUT)
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock.makefile("rb"), sock.makefile("wb"), check=check)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
        if kind is None:
            assert not self.violations, "\n".join(self.violations)

    def close(self) -> None:
        """Disconnect, and make sure that no adapter is left."""
        if not self.closed:
            try:
                self.send("disconnect", {}).response(timeout=10)
            except (Disconnected, TimeoutError, OSError, ValueError):  # ValueError: our end is closed
                pass
        self.vanish()
        if self.process is not None:
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def vanish(self) -> None:
        """Close our end without a word."""
        try:
            self._sink.close()
        except OSError:
            pass

    # ---- messages

    def send(self, command: str, arguments: Body | None = None) -> Pending:
        """Send a request and do not wait."""
        message: Message = {"type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        return self._send_request(message)

    def request(self, command: str, arguments: Body | None = None, timeout: float = TIMEOUT) -> Body:
        """Send a request and wait for its body. Raises RequestFailed."""
        return self.send(command, arguments).body(timeout)

    def failure(self, command: str, arguments: Body | None = None) -> str:
        """Send a request that has to fail; the error's message."""
        response = self.send(command, arguments).response()
        assert not response["success"], f"{command} should have failed\n{self.transcript()}"
        return str(response["message"])

    def failure_unchecked(self, command: str, arguments: Any) -> str:
        """Like `failure`, of a request that breaks the schema."""
        check, self._check = self._check, False
        try:
            pending = self._send_request({"type": "request", "command": command, "arguments": arguments})
        finally:
            self._check = check
        response = pending.response()
        assert not response["success"], f"{command} should have failed\n{self.transcript()}"
        return str(response["message"])

    def wait_for_event(
        self, *names: str, where: Callable[[Body], bool] = lambda body: True, timeout: float = TIMEOUT
    ) -> Message:
        """The next event of these names not taken yet."""
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                for index, event in enumerate(self.events):
                    if event["event"] in names and where(event.get("body") or {}):
                        return self.events.pop(index)
                if self.closed:
                    raise Disconnected(f"no {names} event\n{self.transcript()}")
                if not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"no {names} event\n{self.transcript()}")

    def wait_for_stop(self, timeout: float = TIMEOUT) -> Stop:
        """The next stop. Fails when the program ends instead."""
        event = self.wait_for_event("stopped", "terminated", timeout=timeout)
        assert event["event"] == "stopped", f"the program ended instead of stopping\n{self.transcript()}"
        return Stop(self, event["body"])

    def wait_for_end(self, timeout: float = TIMEOUT) -> int | None:
        """Wait for `terminated`; the exit code, when the adapter told it."""
        self.wait_for_event("terminated", timeout=timeout)
        exits = [event["body"]["exitCode"] for event in self.events if event["event"] == "exited"]
        return exits[-1] if exits else None

    def output(self, *categories: str) -> str:
        """What came as `output` so far; by default the program's own."""
        wanted = categories or ("stdout", "stderr")
        with self._changed:
            bodies = [event["body"] for event in self.events if event["event"] == "output"]
        return "".join(body["output"] for body in bodies if body.get("category", "console") in wanted)

    def wait_for_output(self, text: str, *categories: str, timeout: float = TIMEOUT) -> str:
        """Wait until the output has this text: debugpy sends a program's own at another time than stops."""
        end = time.monotonic() + timeout
        with self._changed:
            while text not in (output := self.output(*categories)):
                if self.closed or not self._changed.wait(end - time.monotonic()):
                    raise AssertionError(f"no output with {text!r}\n{self.transcript()}")
        return output

    def transcript(self) -> str:
        """The last messages, and the adapter's stderr."""
        return "\n".join(line[:600] for line in self._log[-30:]) + f"\nstderr: {self._stderr.decode()[-4000:]}"

    @property
    def stderr(self) -> str:
        return self._stderr.decode()

    # ---- the opening of a session

    def initialize(self, **settings: Any) -> Body:
        arguments = {
            "adapterID": "dynascope",
            "clientID": "tests",
            "linesStartAt1": True,
            "columnsStartAt1": True,
            "pathFormat": "path",
            "supportsVariableType": True,
            "supportsVariablePaging": True,
        } | settings
        self.capabilities = self.request("initialize", arguments)
        return self.capabilities

    def launch(
        self,
        configuration: Body,
        breakpoints: Mapping[Path, Iterable[int | Body]] | None = None,
        *,
        functions: Sequence[str | Body] = (),
        exceptions: Sequence[str] = (),
        request: str = "launch",
        initialize: Mapping[str, Any] | None = None,
        before_running: Callable[[], object] = lambda: None,
    ) -> dict[Path, list[Breakpoint]]:
        """From `initialize` to the response of `launch`; what became of the breakpoints."""
        if not self.capabilities:
            self.initialize(**(initialize or {}))
        started = self.send(request, configuration)
        self._wait_until_initialized(started)
        placed = {path: self.set_breakpoints(path, *lines) for path, lines in (breakpoints or {}).items()}
        if functions:
            named = [{"name": each} if isinstance(each, str) else each for each in functions]
            self.request("setFunctionBreakpoints", {"breakpoints": named})
        self.request("setExceptionBreakpoints", {"filters": list(exceptions)})
        before_running()
        self.request("configurationDone")
        started.body()
        return placed

    def attach(
        self, configuration: Body, breakpoints: Mapping[Path, Iterable[int | Body]] | None = None, **settings: Any
    ) -> dict[Path, list[Breakpoint]]:
        return self.launch(configuration, breakpoints, request="attach", **settings)

    def set_breakpoints(self, path: Path, *lines: int | Body) -> list[Breakpoint]:
        """A line, or a whole SourceBreakpoint."""
        wanted = [{"line": line} if isinstance(line, int) else line for line in lines]
        body = self.request("setBreakpoints", {"source": {"path": str(path)}, "breakpoints": wanted})
        return msgspec.convert(body["breakpoints"], list[Breakpoint])

    def threads(self) -> list[Thread]:
        return msgspec.convert(self.request("threads")["threads"], list[Thread])

    def _wait_until_initialized(self, started: Pending) -> None:
        """A launch that fails answers instead of saying `initialized`."""
        with self._changed:
            end = time.monotonic() + TIMEOUT
            while True:
                if any(event["event"] == "initialized" for event in self.events):
                    self.wait_for_event("initialized")
                    return
                if started.seq not in self._pending:
                    started.body()
                    raise AssertionError(f"no initialized event\n{self.transcript()}")
                if self.closed or not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"no initialized event\n{self.transcript()}")

    # ---- the wire

    def _send_request(self, message: Message) -> Pending:
        with self._changed:
            self._seq += 1
            message["seq"] = self._seq
            pending = self._pending[self._seq] = Pending(self._seq, message["command"], self)
            self._write(message)
            SENT.append(message)
            return pending

    def _write(self, message: Message) -> None:
        self._validate("client", message)
        body = json.dumps(message).encode()
        self._sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._sink.flush()

    def _validate(self, sender: str, message: Message) -> None:
        if self._check:
            self._log.append(f"{sender}: {json.dumps(message)}")
            self.violations += [
                f"{sender} {message.get('command') or message.get('event')}: {violation} in {json.dumps(message)[:800]}"
                for violation in schema.violations(message)
            ]

    def _read(self) -> None:
        try:
            while (message := self._read_message()) is not None:
                self._validate("adapter", message)
                self._take(message)
        except (OSError, ValueError) as error:
            self._log.append(f"the connection broke: {error!r}")
        finally:
            with self._changed:
                self.closed = True
                pending, self._pending = self._pending, {}
                for request in pending.values():
                    request.settle(None)
                self._changed.notify_all()

    def _read_message(self) -> Message | None:
        size = None
        while line := self._source.readline():
            if line == b"\r\n":
                assert size is not None
                message: Message = json.loads(self._source.read(size))
                return message
            name, _, value = line.partition(b":")
            assert name == b"Content-Length", line
            size = int(value)
        return None

    def _take(self, message: Message) -> None:
        with self._changed:
            if message["type"] == "response":
                pending = self._pending.pop(message["request_seq"], None)
                if pending is None:
                    self.violations.append(f"a response to no request: {message}")
                else:
                    if pending.command != message["command"]:
                        self.violations.append(f"a response with another command than {pending.command}: {message}")
                    pending.settle(message)
            elif message["type"] == "event":
                self.events.append(message)
            else:
                threading.Thread(target=self._serve, args=(message,), daemon=True).start()
            self._changed.notify_all()

    def _serve(self, message: Message) -> None:
        answer: Message = {"type": "response", "request_seq": message["seq"], "command": message["command"]}
        handler = self.handlers.get(message["command"])
        if handler is None:
            answer |= {"success": False, "message": "not supported by this client"}
        else:
            answer |= {"success": True, "body": handler(message["arguments"])}
        with self._changed:
            self._seq += 1
            try:
                self._write(answer | {"seq": self._seq})
            except (OSError, ValueError):
                pass  # the session is over

    def _read_stderr(self) -> None:
        assert self.process is not None and self.process.stderr is not None
        for line in self.process.stderr:
            self._stderr += line


def adapter_environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of an adapter under test: this checkout's packages, and facts in no folder of the user's."""
    return {**os.environ, "PYTHONPATH": search_path(), "DYNASCOPE_FACTS": _facts_folder(), **(changes or {})}


@functools.cache
def _facts_folder() -> str:
    """Sessions record: one folder for all of this process, gone when it ends."""
    folder = tempfile.mkdtemp(prefix="dynascope-facts-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
