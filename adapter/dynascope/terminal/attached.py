"""A program that runs already: the session attaches to it, and leaves it running at its end."""

from __future__ import annotations

from concurrent.futures import Future

import msgspec

from dynascope.terminal.debuggee import Debuggee


class Attached(Debuggee):
    """A program to which `start` attaches."""

    terminates = False

    def _begin(self) -> Future[msgspec.Raw]:
        return self._client.send("attach", self._program.to_attach())
