"""A client of the language server that sends whatever it is told to, and counts the answers.

One reader thread per client; requests of the server are answered at once. Nothing is checked on the way out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dynascope_lsp.protocol.connection import bodies

from tests.support.fork_server import search_path

PATIENCE = 60.0

Message = dict[str, Any]


NO_ANSWER = object()
"""What `serve` returns to leave a request of the server open."""


class Unanswered(Exception):
    """The server did not answer, or ended; the text says what it was asked last."""


class Refused(Exception):
    """What `serve` raises to answer a request of the server with an error."""


class LspClient:
    """A server of its own; use it with `with`, which kills the server at the end."""

    def __init__(self, cwd: Path | None = None, **environment: str) -> None:
        self.answers: dict[Any, Message] = {}
        self.notifications: list[Message] = []
        self.sent: list[Message] = []
        self.doubled: list[Any] = []
        """The ids of requests that were answered twice."""
        self.serve: Callable[[Message], Any] = lambda request: None
        """What a request of the server is answered with."""
        self._changed = threading.Condition()
        self._is_over = False
        self._number = 0
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 -- as long as the client
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dynascope_lsp"],
            env={**os.environ, "PYTHONPATH": search_path(), **environment},
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._stderr):
            try:
                stream.close()  # type: ignore[union-attr]
            except OSError:
                pass  # what was not sent any more

    def start(self, *folders: Path, capabilities: Any = None, options: Any = None) -> Message:
        """Open these folders; return the answer to `initialize`."""
        answer = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": each.as_uri(), "name": each.name} for each in folders],
                "capabilities": capabilities or {},
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return answer

    def send(self, method: Any, params: Any = None, id: Any = ...) -> Any:
        """Send a request without waiting; return its id."""
        if id is ...:
            self._number += 1
            id = self._number
        self._write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def notify(self, method: Any, params: Any = None) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: Any, params: Any = None, seconds: float = PATIENCE) -> Message:
        """The answer to a request, a result or an error."""
        return self.answer(self.send(method, params), seconds)

    def result(self, method: str, params: Any = None) -> Any:
        answer = self.request(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def answer(self, id: Any, seconds: float = PATIENCE) -> Message:
        try:
            self.until(lambda: id in self.answers, seconds)
        except Unanswered as error:
            raise Unanswered(f"{next(each for each in self.sent if each.get('id') == id)}: {error}") from None
        return self.answers[id]

    def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait for something that the server sends. Raises Unanswered."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._is_over, seconds)
            if not condition():
                last = "\n".join(json.dumps(each)[:400] for each in self.sent[-5:])
                state = "The server has ended" if self._is_over else "No answer"
                raise Unanswered(f"{state}; it was sent last:\n{last}\nand wrote:\n{self.stderr[-3000:]}")

    def messages(self) -> list[str]:
        """What the user was shown or the log has."""
        shown = ("window/showMessage", "window/logMessage")
        return [each["params"]["message"] for each in self.notifications if each["method"] in shown]

    def raw(self, body: bytes, header: str = "Content-Length: {}\r\n\r\n") -> None:
        """Write a body that may be no message."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(header.format(len(body)).encode() + body)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # waiting for the answer tells that the server has ended

    def end(self, shut_down: bool = True, seconds: float = PATIENCE) -> tuple[int, float]:
        """Send `exit`; the exit code and the seconds that it took."""
        if shut_down:
            assert self.request("shutdown")["result"] is None
        began = time.monotonic()
        self.notify("exit")
        return self.process.wait(seconds), time.monotonic() - began

    @property
    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")

    def _write(self, message: Message) -> None:
        self.sent.append(message)
        self.raw(json.dumps(message).encode())

    def _serve(self, request: Message) -> None:
        answer: Message = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            answer["result"] = self.serve(request)
            if answer["result"] is NO_ANSWER:
                return
        except Refused as error:
            answer["error"] = {"code": -32603, "message": str(error)}
        self.raw(json.dumps(answer).encode())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for body in bodies(self.process.stdout):  # type: ignore[arg-type]
            message = json.loads(body)
            with self._changed:
                if "method" not in message:
                    if message.get("id") in self.answers:
                        self.doubled.append(message["id"])
                    self.answers[message.get("id")] = message
                elif "id" not in message:
                    self.notifications.append(message)
                else:
                    self._serve(message)
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
