"""The client's breakpoints: their ids, the answers of debugpy and the agent, and the state the client is shown.

A breakpoint is verified only if debugpy or the agent can hit it. debugpy verifies every line with code, even inside a
compiled function, where it never stops; so the answer of the agent, which knows what Dynamo does, takes precedence.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from dynascope.wire.beyond_dap import FIRST_ENTRY_ID
from dynascope.wire.breakpoint_texts import counted, logged_by_debugpy
from dynascope.wire.dap import (
    Breakpoint,
    ClientBreakpoint,
    ClientDataBreakpoint,
    ClientFunctionBreakpoint,
    ClientInstructionBreakpoint,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    Source,
    SourceBreakpoint,
)

NO_FUNCTION_YET = "No function of that name is known yet; it stops when Dynamo or Python enters one."

Asked = ClientBreakpoint | ClientFunctionBreakpoint | ClientInstructionBreakpoint | ClientDataBreakpoint
Kind = Literal["data", "functions", "instructions"]
"""The kinds of breakpoints that are in no file."""
AgentBreakpoint = TypeVar(
    "AgentBreakpoint", SourceBreakpoint, FunctionBreakpoint, InstructionBreakpoint, DataBreakpoint
)


class DebugpyBreakpoint(msgspec.Struct):
    """debugpy's answer about one breakpoint; debugpy gives new ids at every request."""

    verified: bool = False
    id: int | None = None
    line: int | None = None
    message: str | None = None


@dataclass(eq=False)
class BreakpointEntry:
    """One breakpoint of the client."""

    id: int
    asked: Asked
    source: Source | None
    """The client's Source; None for a function, instruction or data breakpoint."""
    agent: Breakpoint | None = None
    debugpy: DebugpyBreakpoint | None = None
    entered: bool = False
    """Whether the running program has stopped at this function breakpoint, so a function has that name."""
    hit: bool = False
    """Whether the program has stopped at it, traced or running."""
    never_hit: str | None = None
    """Why it was never hit; the agent reports it when the program ends."""

    @property
    def is_agents_alone(self) -> bool:
        """Whether debugpy must not get it: its mode is `backward` or `generated`."""
        return isinstance(self.asked, ClientBreakpoint) and self.asked.mode in ("backward", "generated")

    @property
    def is_refused(self) -> bool:
        """Whether the agent found it can never be hit: debugpy would stop at another line instead."""
        return self.agent is not None and self.agent.reason == "failed"

    def line(self) -> int | None:
        """Return its line, to which the agent may have moved it from a line without code."""
        if self.agent is not None and self.agent.line is not None:
            return self.agent.line
        if self.debugpy is not None and self.debugpy.line is not None:
            return self.debugpy.line
        return self.asked.line if isinstance(self.asked, ClientBreakpoint) else None

    def title(self) -> str:
        """Return its name for users: `model.py:12`, or the name of its function."""
        if isinstance(self.asked, ClientBreakpoint):
            path = self.source.path if self.source is not None else None
            return f"{os.path.basename(path or '?')}:{self.shown().line}"
        if isinstance(self.asked, ClientFunctionBreakpoint):
            return self.asked.name
        if isinstance(self.asked, ClientInstructionBreakpoint):
            return f"*{self.asked.instruction_reference}"
        return "a data breakpoint"

    def shown(self) -> Breakpoint:
        """Return the state that the client is shown."""
        agent, debugpy = self.agent, self.debugpy
        if agent is None and debugpy is None:
            return Breakpoint(
                id=self.id, verified=False, line=self.line(), source=self.source, message="There is no program yet."
            )
        if agent is None:
            assert debugpy is not None
            verified, message, reason = debugpy.verified, debugpy.message, None
        elif isinstance(self.asked, ClientFunctionBreakpoint) and agent.reason == "pending" and debugpy is not None:
            # debugpy accepts any function name, and the agent waits until it knows a function of that name
            verified, message, reason = self.entered, None if self.entered else NO_FUNCTION_YET, None
        elif debugpy is not None and isinstance(self.asked, ClientBreakpoint) and self.asked.mode == "run":
            # the agent keeps the function uncompiled, and debugpy stops there
            verified = agent.verified and debugpy.verified
            message, reason = agent.message if debugpy.verified else debugpy.message, agent.reason
        elif debugpy is None or agent.verified:
            verified, message, reason = agent.verified, agent.message, agent.reason
        else:
            # Dynamo does not (yet) trace the line: debugpy stops there if it runs as plain Python
            verified = debugpy.verified and agent.reason != "failed"
            message, reason = agent.message or debugpy.message, None if verified else agent.reason
        return Breakpoint(
            id=self.id,
            verified=verified,
            line=self.line(),
            message=message,
            source=self.source or (None if agent is None else agent.source),
            instruction_reference=None if agent is None else agent.instruction_reference,
            reason=reason,
        )


class BreakpointTable:
    """All breakpoints of the session, kept across restarts."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._by_id: dict[int, BreakpointEntry] = {}
        self._by_debugpy: dict[int, BreakpointEntry] = {}
        self.files: dict[str, list[BreakpointEntry]] = {}
        self.others: dict[Kind, list[BreakpointEntry]] = {"data": [], "functions": [], "instructions": []}

    def new_id(self) -> int:
        """Return an id for a breakpoint that is not in this table."""
        return next(self._ids)

    def replace_file(self, source: Source, breakpoints: Sequence[ClientBreakpoint]) -> list[BreakpointEntry]:
        """Replace the breakpoints of one file; unchanged ones keep their ids."""
        path = source.path or ""
        entries = self._entries(self.files.get(path, []), breakpoints, source)
        if entries:
            self.files[path] = entries
        else:
            self.files.pop(path, None)
        return entries

    def replace(self, kind: Kind, breakpoints: Sequence[Asked]) -> list[BreakpointEntry]:
        """Replace the breakpoints of a kind that are in no file."""
        self.others[kind] = self._entries(self.others[kind], breakpoints, None)
        return self.others[kind]

    def get(self, id: int) -> BreakpointEntry | None:
        return self._by_id.get(id)

    def of_debugpy(self, id: int) -> BreakpointEntry | None:
        """Return the breakpoint that has this id in debugpy, set by the adapter or by the agent."""
        return self._by_id.get(id & 0xFFFFF) if id >= FIRST_ENTRY_ID else self._by_debugpy.get(id)

    def told_by_debugpy(self, entry: BreakpointEntry, answer: DebugpyBreakpoint) -> None:
        """Store debugpy's answer about a breakpoint, or a later change of it."""
        entry.debugpy = answer
        if answer.id is not None:
            self._by_debugpy[answer.id] = entry

    def told_by_agent(self, state: Breakpoint, never_hit: bool) -> BreakpointEntry | None:
        """Store the agent's state of a breakpoint and return it; with `never_hit` the program ends.

        Return None if it is gone, or if the running program, which the agent does not see, has stopped at it.
        """
        entry = self.get(state.id)
        if entry is None or (entry.hit and never_hit):
            return None
        entry.agent = state
        if never_hit:
            entry.never_hit = state.message
        return entry

    def stopped_at(self, ids: Iterable[int]) -> None:
        """Record that the program has stopped at these breakpoints."""
        for entry in map(self.get, ids):
            if entry is not None:
                entry.hit = True

    def never_hit(self) -> list[tuple[BreakpointEntry, str]]:
        """Return each breakpoint that was never hit, with a sentence, if the reason is known."""
        sentences = []
        for entry in self.all():
            why = entry.never_hit
            if why is None and (entry.agent is None or entry.is_refused):
                why = entry.shown().message
            if not entry.hit and why and not getattr(entry.asked, "log_message", None):
                why = why.removeprefix("Never hit. ")
                sentences.append((entry, f"{entry.title()}: the breakpoint was never hit. {why}"))
        return sentences

    def all(self) -> list[BreakpointEntry]:
        """List the breakpoints of files, then the others."""
        return [entry for entries in (*self.files.values(), *self.others.values()) for entry in entries]

    def forget_program(self) -> None:
        """Forget the states of all breakpoints: the program is gone."""
        self._by_debugpy.clear()
        for entry in self._by_id.values():
            entry.agent = entry.debugpy = None
            entry.entered = entry.hit = False
            entry.never_hit = None

    def _entries(
        self, before: list[BreakpointEntry], breakpoints: Sequence[Asked], source: Source | None
    ) -> list[BreakpointEntry]:
        entries = []
        for breakpoint in breakpoints:
            same = next((entry for entry in before if entry.asked == breakpoint and entry not in entries), None)
            entries.append(same or BreakpointEntry(next(self._ids), breakpoint, source))
        for entry in before:
            self._by_id.pop(entry.id, None)
        self._by_id.update((entry.id, entry) for entry in entries)
        self._by_debugpy = {id: entry for id, entry in self._by_debugpy.items() if entry.id in self._by_id}
        return entries


def for_agent(entry: BreakpointEntry, kind: type[AgentBreakpoint]) -> AgentBreakpoint:
    """Return the breakpoint as the agent's type: the client's fields, and the adapter's id."""
    fields = {name: getattr(entry.asked, name) for name in kind.__struct_fields__ if name != "id"}
    return kind(id=entry.id, **fields)


def for_debugpy(entry: BreakpointEntry) -> Asked:
    """Return the breakpoint for debugpy: on the agent's line, with the agent's hit count."""
    asked = entry.asked
    if entry.agent is not None:
        condition = counted(entry.id, asked.condition, asked.hit_condition, getattr(asked, "log_message", None))
        asked = msgspec.structs.replace(asked, condition=condition, hit_condition=None)
    if isinstance(asked, ClientBreakpoint):
        log_message = logged_by_debugpy(asked.log_message) if asked.log_message else None
        return msgspec.structs.replace(asked, line=entry.line() or asked.line, mode=None, log_message=log_message)
    return asked
