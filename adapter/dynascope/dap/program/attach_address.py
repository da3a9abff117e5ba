"""Where a program that waits to be attached to is, and the token it wants.

`dynascope.listen()` opens one port that wants a token as the first line; a plain `debugpy.listen()` port wants none.
Which of the two it is, the presence of a token tells: in the configuration, in DYNASCOPE_TOKEN, or in the file,
readable by its owner only, that `dynascope.listen()` leaves in the user's runtime directory.
"""

from __future__ import annotations

import os

import msgspec

from dynascope.dap.protocol.arguments import Address
from dynascope.dap.protocol.launch_arguments import AttachArguments
from dynascope.wire.channel import TOKEN_VARIABLE
from dynascope.wire.token_file import token_file


class ListenFile(msgspec.Struct):
    """What `listen-<port>.json` holds, among other things."""

    token: str


def address_of(arguments: AttachArguments) -> Address | None:
    """Where to connect to; `host` and `port` are debugpy's old spelling of `connect`."""
    if arguments.connect is not None:
        return arguments.connect
    if arguments.port is not None:
        return Address(host=arguments.host or "127.0.0.1", port=arguments.port)
    return None


def token_for(port: int, given: str | None) -> str | None:
    """The token of the program that listens on that port; None when it is no `dynascope.listen()` we know of."""
    if given:
        return given
    if token := os.environ.get(TOKEN_VARIABLE):
        return token
    try:
        return msgspec.json.decode(token_file(port).read_bytes(), type=ListenFile).token
    except (OSError, msgspec.DecodeError):
        return None
