"""Errors that a user reads."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be served: its text is the error response's message, a sentence for the user."""


class TransportError(Exception):
    """The byte stream is no DAP: nothing after this point can be read. Its text says why, for the log."""
