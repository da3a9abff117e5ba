"""Decode the JSON of a message. Raises Malformed, with the error that answers it."""

from __future__ import annotations

import json
import re
from typing import Any

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError

HALF = re.compile("[\ud800-\udfff]")
"""Half a character of two UTF-16 units: an editor in JavaScript can send one while the user types or deletes."""


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
