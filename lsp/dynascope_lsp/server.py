"""How the server starts; `dynascope lsp` and `python -m dynascope_lsp` end up here."""

from __future__ import annotations

import gc
import logging
import sys


def serve() -> None:
    """Speak LSP over stdin and stdout until the client says `exit`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    gc.disable()  # the protocol's classes are made once and stay: collecting meanwhile is a fifth of the start
    from dynascope_lsp.serving import create_server

    server = create_server()
    gc.freeze()
    gc.enable()
    server.start_io()
