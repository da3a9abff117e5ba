"""A DAP client: start an adapter as a child process, send requests, and call back with events."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any, TypeVar

import msgspec

Body = TypeVar("Body")
BODY_LIMIT = 256 << 20
"""The most bytes of a message's body; only a broken adapter sends more."""


class CommandError(Exception):
    """A command cannot be run; the text says why, for the user."""


class RequestRefused(CommandError):
    """The adapter refused a request; the text is its message for the user."""


class AdapterGone(RequestRefused):
    """The adapter ended or did not start; the text contains the end of its stderr."""


class _Message(msgspec.Struct):
    """A DAP message whose body is undecoded; `type` says which of the other fields are set."""

    type: str
    seq: int = 0
    command: str = ""
    event: str = ""
    request_seq: int = 0
    success: bool = True
    message: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    body: msgspec.Raw = msgspec.Raw(b"{}")


class _ErrorText(msgspec.Struct):
    format: str = ""
    variables: dict[str, str] = {}


class _ErrorBody(msgspec.Struct):
    error: _ErrorText = msgspec.field(default_factory=_ErrorText)


class AdapterProcess:
    """One adapter process. The callbacks run on the reader thread, in the order of the messages."""

    def __init__(
        self,
        command: Sequence[str],
        on_event: Callable[[str, msgspec.Raw], None],
        on_reverse_request: Callable[[str, msgspec.Raw], Mapping[str, Any]],
        on_close: Callable[[], None],
    ) -> None:
        """Start `command`. Raises AdapterGone when it cannot be started.

        `on_reverse_request` returns the response's body, or raises RequestRefused with the reason for a refusal.
        """
        self._on_event = on_event
        self._on_reverse_request = on_reverse_request
        self._on_close = on_close
        self._lock = threading.Lock()
        self._seq = 0
        self._pending: dict[int, Future[msgspec.Raw]] = {}
        self._closed = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        try:
            # a process session of its own: Ctrl-C at the prompt must not reach the adapter
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            raise AdapterGone(f"cannot start the debug adapter ({command[0]}): {error.strerror}") from error
        self._reader = threading.Thread(target=self._read, name="dynascope client", daemon=True)
        self._reader.start()

    def send(self, command: str, arguments: Mapping[str, Any] | None = None) -> Future[msgspec.Raw]:
        """Send a request; return a future of its response's body, or of RequestRefused."""
        return self._send(command, arguments)[1]

    def _send(self, command: str, arguments: Mapping[str, Any] | None) -> tuple[int, Future[msgspec.Raw]]:
        future: Future[msgspec.Raw] = Future()
        with self._lock:
            if self._closed:
                future.set_exception(AdapterGone(self._last_words()))
                return self._seq, future
            self._seq += 1
            self._pending[self._seq] = future
            self._write({"type": "request", "seq": self._seq, "command": command, "arguments": dict(arguments or {})})
            return self._seq, future

    def request(self, command: str, arguments: Mapping[str, Any] | None, body: type[Body]) -> Body:
        """Send a request and return its response's body; Ctrl-C cancels it. Raises RequestRefused."""
        number, future = self._send(command, arguments)
        try:
            raw = future.result()
        except KeyboardInterrupt:
            self.send("cancel", {"requestId": number})
            raise
        try:
            return msgspec.json.decode(raw, type=body)
        except msgspec.DecodeError as error:
            raise RequestRefused(f"the adapter's answer to `{command}` is not valid DAP: {error}") from error

    def close(self, patience: float = 5.0) -> None:
        """Close the adapter's stdin, wait `patience` seconds for it to end, then kill it."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(patience)
        self._errors.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        body = msgspec.json.encode(message)
        stream = self._process.stdin
        if stream is not None:
            with suppress(OSError, ValueError):  # the reader sees the stream's end, and fails the pending requests
                stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        decoder = msgspec.json.Decoder(_Message)
        with suppress(OSError, ValueError, msgspec.DecodeError):
            while stream is not None and (body := _read_body(stream)) is not None:
                self._dispatch(decoder.decode(body))
        with self._lock:
            self._closed = True
            pending, self._pending = self._pending, {}
        if pending:
            gone = AdapterGone(self._last_words())
            for future in pending.values():
                future.set_exception(gone)
        self._on_close()

    def _dispatch(self, message: _Message) -> None:
        if message.type == "event":
            self._on_event(message.event, message.body)
        elif message.type == "response":
            future = self._pending.pop(message.request_seq, None)
            if future is None:
                return
            if message.success:
                future.set_result(message.body)
            else:
                future.set_exception(RequestRefused(_reason(message)))
        elif message.type == "request":
            self._answer(message)

    def _answer(self, message: _Message) -> None:
        response: dict[str, Any] = {"type": "response", "request_seq": message.seq, "command": message.command}
        try:
            response |= {"success": True, "body": dict(self._on_reverse_request(message.command, message.arguments))}
        except RequestRefused as error:
            response |= {"success": False, "message": str(error)}
        with self._lock:
            self._seq += 1
            self._write(response | {"seq": self._seq})

    def _last_words(self) -> str:
        try:
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
        except (OSError, ValueError):
            text = ""
        code = self._process.poll()
        ended = "the debug adapter ended" + (f" with exit code {code}" if code else "")
        return f"{ended}; its last output was:\n{text[-2000:]}" if text else ended


def _read_body(stream: IO[bytes]) -> bytes | None:
    """Read one message's body; None at the stream's end. Raises ValueError for bad framing."""
    length: int | None = None
    while line := stream.readline(8192):
        if line in (b"\r\n", b"\n"):
            if length is None or not 0 <= length <= BODY_LIMIT:
                raise ValueError("no usable Content-Length")
            body = stream.read(length)
            return body if len(body) == length else None
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    return None


def _reason(message: _Message) -> str:
    """Return the message for users: DAP's `body.error`, or `message`, which debugpy uses."""
    try:
        error = msgspec.json.decode(message.body, type=_ErrorBody).error
    except msgspec.DecodeError:
        error = _ErrorText()
    text = error.format
    for name, value in error.variables.items():
        text = text.replace("{" + name + "}", value)
    return text or message.message or f"`{message.command}` failed, and the adapter does not say why"
