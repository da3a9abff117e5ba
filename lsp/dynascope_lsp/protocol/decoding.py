"""Decode the JSON of a message to LSP's types, as pygls does, but take only a list for a list.

Raises Malformed, with the error that answers the message. cattrs takes any iterable for a list: a text of 100,000
characters, of which none is a folder, keeps it for half a minute.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from cattrs import Converter
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.protocol import default_converter

HALF = re.compile("[\ud800-\udfff]")
"""Half a character of two UTF-16 units: an editor in JavaScript can send one while the user types or deletes."""


def converter() -> Converter:
    """Return a converter for a server."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    made.register_structure_hook_factory(_is_list, _of_list)
    return made


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is Sequence


def _of_list(kind: Any, made: Converter) -> Callable[[Any, Any], list[Any]]:
    (inner,) = get_args(kind)
    hook = made.get_structure_hook(inner)

    def structure(value: Any, _: Any) -> list[Any]:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, not {type(value).__name__}")
        return [hook(each, inner) for each in value]

    return structure


class Malformed(Exception):
    """What a client has sent is not a message."""

    def __init__(self, error: JsonRpcException, id: int | str | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.id = id
        """The id of the request, if it has one."""


def decoded(body: bytes) -> dict[str, Any]:
    """Return a request, a notification or a response as it was sent."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed(JsonRpcParseError(f"The message is not JSON: {error}")) from None
    if b"\\u" in body:
        message = _whole(message)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Malformed(JsonRpcInvalidRequest('A message is an object with "jsonrpc": "2.0"'), _id(message))
    if "id" in message and _id(message) is None and "error" not in message:
        raise Malformed(JsonRpcInvalidRequest("The id is neither a number nor a text"))
    if "method" in message:
        if not isinstance(message["method"], str):
            raise Malformed(JsonRpcInvalidRequest("The method is not a text"), _id(message))
    elif "id" not in message:
        raise Malformed(JsonRpcInvalidRequest("The message has no method"))
    elif "result" not in message and "error" not in message:
        raise Malformed(JsonRpcInvalidRequest("The message has no method"), _id(message))
    return message


def _id(message: Any) -> int | str | None:
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _whole(value: Any) -> Any:
    """Replace each half of a character by one that is as long and can be encoded."""
    if isinstance(value, str):
        return HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return value
