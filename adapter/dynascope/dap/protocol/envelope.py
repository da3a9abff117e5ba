"""The envelope of every DAP message, and what can be said about one that is broken."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType


class Envelope(Struct, omit_defaults=True):
    """A request, response or event. `arguments` and `body` stay JSON until somebody needs to look inside."""

    type: str
    seq: int
    command: str | UnsetType = UNSET
    event: str | UnsetType = UNSET
    request_seq: int | UnsetType = UNSET
    success: bool | UnsetType = UNSET
    message: str | UnsetType | None = UNSET
    arguments: Raw | UnsetType = UNSET
    body: Raw | UnsetType = UNSET


class UnreadableMessage(Exception):
    """Bytes that are no DAP message. `request_seq` is what an error response can bear, if known."""

    def __init__(self, reason: str, request_seq: int | None = None, command: str = "") -> None:
        super().__init__(reason)
        self.request_seq = request_seq
        self.command = command


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def raw(value: object) -> Raw:
    """JSON of a struct, dict or list, to be put into an envelope."""
    return Raw(_encoder.encode(value))


def encode(envelope: Envelope) -> bytes:
    """The message's JSON, without its header."""
    return _encoder.encode(envelope)


def decode(body: bytes) -> Envelope:
    """Read one message. Raises UnreadableMessage."""
    try:
        body.decode()  # Raw parts are passed on unread: what is not UTF-8 must not get that far
        return _decoder.decode(body)
    except UnicodeDecodeError as error:
        raise UnreadableMessage(f"the message is not UTF-8 ({error.reason} at byte {error.start})") from None
    except msgspec.ValidationError as error:
        raise _explain(body, str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableMessage(f"the message is not JSON ({error})") from None


def _explain(body: bytes, reason: str) -> UnreadableMessage:
    """If the JSON is well formed, a wrong type in one field need not hide the `seq` that an answer has to bear."""
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        return UnreadableMessage(f"the message is not JSON ({error})")
    if not isinstance(message, dict):
        return UnreadableMessage("a DAP message is a JSON object")
    seq, command = message.get("seq"), message.get("command")
    if isinstance(seq, str) and seq.isascii() and seq.isdigit():
        seq = int(seq)
    readable = isinstance(seq, int) and not isinstance(seq, bool)
    return UnreadableMessage(reason, seq if readable else None, command if isinstance(command, str) else "")
