"""Report threads in the compiler to the client: the progress of a long compile, and which threads wait for another.

Dynamo lets one thread at a time into the compiler. While that one is stopped, others that compile wait for it, and
appear to hang. The agent is asked for them when a thread stops, when another thread enters the compiler during the
stop, when one is paused and when threads are listed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.client.client import PATIENCE, Client, Progress
from dynascope.dap.protocol.call import RequestError
from dynascope.explain.in_progress import progress
from dynascope.explain.problem import where
from dynascope.wire.to_agent import CompileOn, Compiles, Compiling

INTERVAL = 0.5
"""Seconds between two requests for compiles, for clients that show progress."""
ANSWERS_WITHIN = 2.0
"""Seconds after which a stop is told without what its thread compiles."""
SETTLED = 0.2
"""Seconds after which a thread that has entered the compiler but does not trace waits for another."""


async def compiles(agent: AgentConnection | None) -> list[Compiling]:
    """Return the threads in the compiler now; [] when the agent is gone."""
    if agent is None or agent.closed:
        return []
    try:
        return await agent.ask_for(list[Compiling], Compiles())
    except RequestError:
        return []


async def compile_on(agent: AgentConnection | None, thread_id: int) -> str:
    """Return what a thread compiles, as a clause; "" for nothing, or if it is not known."""
    if agent is None or agent.closed:
        return ""
    try:
        return await asyncio.wait_for(agent.ask_for(str, CompileOn(thread_id=thread_id)), ANSWERS_WITHIN)
    except (RequestError, TimeoutError):
        return ""


async def why_it_waits(agent: AgentConnection | None, thread_id: int) -> tuple[str, str] | None:
    """Return a thread's name and what it waits for in the compiler; None if for nothing."""
    rows = await compiles(agent)
    reasons = ((row.thread_name, waits_because(row, rows)) for row in rows if row.thread_id == thread_id)
    return next(((name, why) for name, why in reasons if why is not None), None)


def waits_because(waiting: Compiling, all_of_them: list[Compiling]) -> str | None:
    """Return "waits for Dynamo's compile lock, held by Thread-1, …"; None if it does not wait."""
    if waiting.state != "waiting":
        return None
    holder = next((row for row in all_of_them if row.state != "waiting"), None)
    if holder is None:
        return "waits for Dynamo's compile lock"
    doing = "is stopped in" if holder.state == "stopped" else "compiles"
    return f"waits for Dynamo's compile lock, held by {holder.thread_name}, which {doing} {holder.name}"


def named(threads: list[dict[str, Any]], rows: list[Compiling]) -> list[dict[str, Any]]:
    """Return the DAP threads, with the reason in the name of each that waits."""
    reasons = {row.thread_id: why for row in rows if (why := waits_because(row, rows)) is not None}
    return [
        thread | {"name": f"{thread['name']} ({reasons[thread['id']]})"} if thread["id"] in reasons else thread
        for thread in threads
    ]


class Waiting:
    """Report to the client, once per stop, which threads wait for the stopped one."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._told: dict[int, int] = {}
        """By the waiting thread's ident: the ident of the stopped one."""

    def newly_waiting(self, rows: list[Compiling]) -> list[tuple[Compiling, str]]:
        """Return the stopped thread with a sentence for each newly waiting one.

        Send an event when names change.
        """
        holder = next((row for row in rows if row.state == "stopped"), None)
        waiting = {row.thread_ident: row for row in rows if row.state == "waiting"} if holder is not None else {}
        now = dict.fromkeys(waiting, holder.thread_ident if holder is not None else 0)
        new = [row for ident, row in waiting.items() if self._told.get(ident) != now[ident]]
        if now != self._told and self._client.refetches:
            self._client.event("invalidated", {"areas": ["threads"]})
        self._told = now
        return [
            (holder, f"{row.thread_name} {waits_because(row, rows)}. It continues once the lock is free.")
            for row in new
            if holder is not None
        ]


class CompileProgress:
    """Poll the compiles every `INTERVAL` seconds, and show those that take long."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._since: dict[int, tuple[str, float]] = {}
        self._shown: dict[int, str] = {}

    async def follow(self, agent: AgentConnection) -> None:
        """Show progress until the agent is gone."""
        try:
            while not agent.closed:
                await asyncio.sleep(INTERVAL)
                self._show(await compiles(agent))
        finally:
            self._show([])

    def _show(self, rows: list[Compiling]) -> None:
        now = asyncio.get_running_loop().time()
        working = {row.thread_ident: row for row in rows if row.state in ("tracing", "backend")}
        for ident in self._since.keys() - working.keys():
            del self._since[ident]
            if ident in self._shown:
                self._progress.end(self._shown.pop(ident))
        for ident, row in working.items():
            name, since = self._since.setdefault(ident, (row.name, now))
            if ident in self._shown:
                self._progress.update(self._shown[ident], _now(row))
            elif now - since >= PATIENCE - INTERVAL:
                self._shown[ident] = self._progress.begin(f"torch.compile: {name}", _now(row))


def _now(row: Compiling) -> str:
    at = where(row.path, row.line)
    return progress(row.name, row.nodes, at, row.backend if row.state == "backend" else None)
