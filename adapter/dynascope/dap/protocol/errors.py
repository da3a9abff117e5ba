"""The errors whose texts users read."""

from __future__ import annotations

import os


class RequestError(Exception):
    """A request cannot be served; the text is the error response's message, a sentence for the user."""


class TransportError(Exception):
    """The byte stream is not DAP, and nothing after this point can be read. The text says why, for the log."""


def cause(error: OSError) -> str:
    """Return the operating system's message, without numbers and addresses."""
    return os.strerror(error.errno) if error.errno else str(error)
