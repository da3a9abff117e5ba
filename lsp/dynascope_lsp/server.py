"""How the server starts; `dynascope lsp` and `python -m dynascope_lsp` end up here."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import attrs


def serve() -> None:
    """Speak LSP over stdin and stdout until the client says `exit`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    with _quick_start():
        from dynascope_lsp.serving import create_server

        server = create_server()
    server.start_io()


@contextmanager
def _quick_start() -> Iterator[None]:
    """The protocol is 554 classes of attrs', made anew at each start: most of the time until the first diagnostics.

    Without their `__repr__` and `__eq__`, which nobody asks for here, and without slots, for which each is made twice,
    they take half of it; and all of it stays, so that there is no garbage to look for, then or later.
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
