"""Start the server, for `dynascope lsp` and `python -m dynascope_lsp`."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import attrs


def serve() -> None:
    """Serve LSP over stdin and stdout until the client sends `exit`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    with _quick_start():
        from dynascope_lsp.serving import create_server

        server = create_server()
    server.start_io()


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
