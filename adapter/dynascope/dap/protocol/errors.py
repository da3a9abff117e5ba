"""Errors that a user reads."""

from __future__ import annotations

import os


class RequestError(Exception):
    """A request that cannot be served: its text is the error response's message, a sentence for the user."""


class TransportError(Exception):
    """The byte stream is no DAP: nothing after this point can be read. Its text says why, for the log."""


def cause(error: OSError) -> str:
    """What the operating system said, without numbers and addresses."""
    return os.strerror(error.errno) if error.errno else str(error)
