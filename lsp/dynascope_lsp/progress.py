"""Progress of work that takes a while, as the client shows it, with a button to cancel where it has one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types

from dynascope_lsp.session import LspSession

T = TypeVar("T")


class WorkDoneProgress:
    """Made with `begun`; a client without progress sees nothing of it."""

    def __init__(self, session: LspSession, token: str | None) -> None:
        self._server = session.server
        self._token = token

    @classmethod
    async def begun(cls, session: LspSession, title: str) -> WorkDoneProgress:
        """Show a title to the user."""
        window = session.server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return cls(session, None)
        token = str(uuid4())
        await session.server.work_done_progress.create_async(token)
        session.server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
        return cls(session, token)

    async def cancellable(self, work: Coroutine[Any, Any, T], message: str) -> T:
        """Await one step. Raises asyncio.CancelledError when the user cancels."""
        task = asyncio.ensure_future(work)
        if self._token is not None:
            loop, shown = asyncio.get_running_loop(), self._server.work_done_progress
            shown.report(self._token, types.WorkDoneProgressReport(message=message))
            shown.tokens[self._token].add_done_callback(lambda _: loop.call_soon_threadsafe(task.cancel))
        return await task

    def end(self) -> None:
        """Show no more of it."""
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
