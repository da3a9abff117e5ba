"""The address and the token of a program that listens for `attach`.

`dynascope.listen()` opens one port that requires a token as the first line; `debugpy.listen()` opens one that does not.
The port is taken for the former if there is a token: in the configuration, in DYNASCOPE_TOKEN, or in the file,
readable by its owner only, that `dynascope.listen()` leaves in the user's runtime directory.
"""

from __future__ import annotations

import os

import msgspec

from dynascope.dap.protocol.launch_arguments import Address, AttachArguments
from dynascope.wire.channel import TOKEN_VARIABLE
from dynascope.wire.token_file import token_file


class ListenFile(msgspec.Struct):
    """The part of `listen-<port>.json` that is read."""

    token: str


def address_of(arguments: AttachArguments) -> Address | None:
    """Return the address to connect to; `host` and `port` are debugpy's old form of `connect`."""
    if arguments.connect is not None:
        return arguments.connect
    if arguments.port is not None:
        return Address(host=arguments.host or "127.0.0.1", port=arguments.port)
    return None


def token_for(port: int, configured: str | None) -> str | None:
    """Return the token of the program that listens on `port`; None if none is found."""
    if configured:
        return configured
    if token := os.environ.get(TOKEN_VARIABLE):
        return token
    try:
        return msgspec.json.decode(token_file(port).read_bytes(), type=ListenFile).token
    except (OSError, msgspec.DecodeError):
        return None
