"""Start the server, for `dynascope lsp` and `python -m dynascope_lsp`."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import attrs


def serve() -> None:
    """Serve LSP over stdin and stdout until the client sends `exit`. Does not return."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    with _quick_start():
        from dynascope_lsp.protocol.answering import Protocol
        from dynascope_lsp.protocol.connection import ClientConnection
        from dynascope_lsp.serving import create_server

        protocol = create_server().protocol
        assert isinstance(protocol, Protocol)
        connection = ClientConnection(protocol, sys.stdin.buffer, sys.stdout.buffer)
    # what goes on in the background may write to stdout, which is the client's
    sys.stdout = sys.stderr
    with suppress(KeyboardInterrupt):
        asyncio.run(connection.serve())
    os._exit(connection.exit_code)  # the syntax trees of a large workspace take seconds to free


@contextmanager
def _quick_start() -> Iterator[None]:
    """Import lsprotocol faster: its 554 attrs classes take most of the start time.

    Without `__repr__` and `__eq__`, which are not used here, and without slots, for which each class is created twice,
    they take half of it. No garbage is collected during it, and its objects are excluded from later collections.
    """
    define = attrs.define
    gc.disable()
    attrs.define = partial(define, repr=False, eq=False, slots=False)
    try:
        yield
    finally:
        attrs.define = define
        gc.freeze()
        gc.enable()
