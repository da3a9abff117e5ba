"""The envelope of every DAP message, those that are often sent, and the errors of malformed ones."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dynascope.dap.protocol.call import Call
from dynascope.encodable import encoded


class Envelope(Struct, omit_defaults=True):
    """A request, response or event. `arguments` and `body` stay JSON until they are read."""

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
    """The bytes are not a DAP message. `request_seq` is for the error response, if it is known."""

    def __init__(self, reason: str, request_seq: int | None = None, command: str = "") -> None:
        super().__init__(reason)
        self.request_seq = request_seq
        self.command = command


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def raw(value: object) -> Raw:
    """Encode a struct, dict or list as JSON for an envelope."""
    return Raw(encoded(_encoder.encode, value))


def success(call: Call[Any], body: object = None) -> Envelope:
    """Return the response to `call`, whose body is a struct, a dict, raw JSON, or None for none."""
    seq, command = call.seq, call.command
    return Envelope("response", 0, command=command, request_seq=seq, success=True, body=_body(body))


def event(name: str, body: object = None) -> Envelope:
    """Return an event to send."""
    return Envelope("event", 0, event=name, body=_body(body))


def _body(body: object) -> Raw | UnsetType:
    if body is None:
        return UNSET
    return body if isinstance(body, Raw) else raw(body)


def encode(envelope: Envelope) -> bytes:
    """Return the message's JSON, without its header."""
    return encoded(_encoder.encode, envelope)


def decode(body: bytes) -> Envelope:
    """Decode one message. Raises UnreadableMessage."""
    try:
        body.decode()  # raw parts are passed on without decoding, so check here that they are UTF-8
        return _decoder.decode(body)
    except UnicodeDecodeError as error:
        raise UnreadableMessage(f"the message is not UTF-8 ({error.reason} at byte {error.start})") from None
    except msgspec.ValidationError as error:
        raise _explain(body, str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        readable = _SURROGATE.sub(_shown, body)
        if readable != body:
            return decode(readable)
        raise UnreadableMessage(f"the message is not JSON ({error})") from None


_SURROGATE = re.compile(rb"(?i)(?<!\\)((?:\\\\)*)\\u(d[89ab]\w\w\\ud[c-f]\w\w|d[89a-f]\w\w)")
"""A pair of escaped surrogates, or one alone: what is left of an emoji of which a client has cut off a part."""


def _shown(escape: re.Match[bytes]) -> bytes:
    """Return JSON for a lone surrogate's escape as text, as Python shows it."""
    return escape[0] if b"\\" in escape[2] else rb"%s\\\\u%s" % (escape[1], escape[2])


def _explain(body: bytes, reason: str) -> UnreadableMessage:
    """Return the error, with the `seq` for its response if the JSON is well formed."""
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
