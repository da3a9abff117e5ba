"""Progress events of long requests and long compiles, for clients that show them.

Work that ends within `PATIENCE` is not reported. The progress of a request can be cancelled, by its id or the
request's; that of a compile cannot, but `pause` stops the compile where it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator

from dynascope.dap.client.client import Client

_numbers = itertools.count(1)
PATIENCE = 1.0
"""Seconds of work that are not reported."""


class Progress:
    """Send the progress events of one session."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._requests: dict[str, int] = {}

    @property
    def is_shown(self) -> bool:
        """Whether the client shows progress (`supportsProgressReporting`)."""
        arguments = self._client.arguments
        return arguments is not None and arguments.supports_progress_reporting

    def request_of(self, progress_id: str) -> int | None:
        """Return the `seq` of the request that a progress is about; None if it is not a request's."""
        return self._requests.get(progress_id)

    @contextlib.contextmanager
    def of_request(self, seq: int, command: str) -> Iterator[None]:
        """Show the progress of a request while the block runs."""
        if not self.is_shown:
            yield
            return
        progress_ids: list[str] = []

        def start() -> None:
            progress_ids.append(self.begin(f"Dynascope: {command}", request=seq))
            self._requests[progress_ids[0]] = seq

        timer = asyncio.get_running_loop().call_later(PATIENCE, start)
        try:
            yield
        finally:
            timer.cancel()
            for progress_id in progress_ids:
                del self._requests[progress_id]
                self.end(progress_id)

    def begin(self, title: str, message: str | None = None, request: int | None = None) -> str:
        """Show a progress; return its id."""
        progress_id = f"dynascope {next(_numbers)}"
        body = {"progressId": progress_id, "title": title, "cancellable": request is not None}
        optional = {"message": message, "requestId": request}
        self._client.event("progressStart", body | {key: value for key, value in optional.items() if value is not None})
        return progress_id

    def update(self, progress_id: str, message: str) -> None:
        self._client.event("progressUpdate", {"progressId": progress_id, "message": message})

    def end(self, progress_id: str) -> None:
        self._client.event("progressEnd", {"progressId": progress_id})
