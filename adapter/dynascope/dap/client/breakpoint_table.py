"""The client's breakpoints: our ids, what each half said about them, and the state that the client is shown.

A breakpoint is verified only when some half can hit it. debugpy calls every line with code verified, also inside a
compiled function, where it never stops; so the agent, which knows what Dynamo does with the line, has the first word.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from dynascope.dap.protocol.arguments import (
    ClientBreakpoint,
    ClientDataBreakpoint,
    ClientFunctionBreakpoint,
    ClientInstructionBreakpoint,
)
from dynascope.wire import log_messages
from dynascope.wire.counting import counted
from dynascope.wire.dap import (
    FIRST_ENTRY_ID,
    Breakpoint,
    DataBreakpoint,
    FunctionBreakpoint,
    InstructionBreakpoint,
    Source,
    SourceBreakpoint,
)

NO_FUNCTION_YET = "No function of that name is known yet; it stops when Dynamo or Python enters one."

Asked = ClientBreakpoint | ClientFunctionBreakpoint | ClientInstructionBreakpoint | ClientDataBreakpoint
AgentBreakpoint = TypeVar(
    "AgentBreakpoint", SourceBreakpoint, FunctionBreakpoint, InstructionBreakpoint, DataBreakpoint
)


class DebugpyBreakpoint(msgspec.Struct):
    """debugpy's answer about one breakpoint. Its ids are its own, and new ones at every request."""

    verified: bool = False
    id: int | None = None
    line: int | None = None
    message: str | None = None


@dataclass(eq=False)
class Entry:
    """One breakpoint of the client."""

    id: int
    asked: Asked
    source: Source | None
    """As the client wrote it; None for a function, instruction or data breakpoint."""
    agent: Breakpoint | None = None
    debugpy: DebugpyBreakpoint | None = None
    entered: bool = False
    """A function breakpoint at which the running program has stopped: there is a function of that name."""
    hit: bool = False
    """The program has stopped at it, traced or running."""
    never_hit: str | None = None
    """Why it never stopped, from the agent when the program ends."""

    @property
    def is_agents_alone(self) -> bool:
        """Whether debugpy must not have it: it stops in the backward, or the agent itself asks debugpy to stop."""
        return isinstance(self.asked, ClientBreakpoint) and self.asked.mode in ("backward", "generated")

    @property
    def is_refused(self) -> bool:
        """Whether the agent found that it can never be hit: debugpy would move it to another line, and stop there."""
        return self.agent is not None and self.agent.reason == "failed"

    def line(self) -> int | None:
        """Where it is, after the agent may have moved it off a line without code."""
        if self.agent is not None and self.agent.line is not None:
            return self.agent.line
        if self.debugpy is not None and self.debugpy.line is not None:
            return self.debugpy.line
        return self.asked.line if isinstance(self.asked, ClientBreakpoint) else None

    def title(self) -> str:
        """Return what to call it: `model.py:12`, or the name of its function."""
        if isinstance(self.asked, ClientBreakpoint):
            path = self.source.path if self.source is not None else None
            return f"{os.path.basename(path or '?')}:{self.shown().line}"
        if isinstance(self.asked, ClientFunctionBreakpoint):
            return self.asked.name
        if isinstance(self.asked, ClientInstructionBreakpoint):
            return f"*{self.asked.instruction_reference}"
        return "a data breakpoint"

    def shown(self) -> Breakpoint:
        """What the client is told."""
        agent, debugpy = self.agent, self.debugpy
        if agent is None and debugpy is None:
            return Breakpoint(
                id=self.id, verified=False, line=self.line(), source=self.source, message="There is no program yet."
            )
        if agent is None:
            assert debugpy is not None
            verified, message, reason = debugpy.verified, debugpy.message, None
        elif isinstance(self.asked, ClientFunctionBreakpoint) and agent.reason == "pending" and debugpy is not None:
            # debugpy takes any name for a function's, and the agent waits while it knows none of that name
            verified, message, reason = self.entered, None if self.entered else NO_FUNCTION_YET, None
        elif debugpy is not None and isinstance(self.asked, ClientBreakpoint) and self.asked.mode == "run":
            # the agent has the function run, and debugpy has to stop there
            verified = agent.verified and debugpy.verified
            message, reason = agent.message if debugpy.verified else debugpy.message, agent.reason
        elif debugpy is None or agent.verified:
            verified, message, reason = agent.verified, agent.message, agent.reason
        else:
            # Not (yet) a line that Dynamo traces: debugpy stops there if it runs as plain Python.
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
        self._by_id: dict[int, Entry] = {}
        self._by_debugpy: dict[int, Entry] = {}
        self.files: dict[str, list[Entry]] = {}
        self.functions: list[Entry] = []
        self.instructions: list[Entry] = []
        self.data: list[Entry] = []

    def new_id(self) -> int:
        """For a breakpoint that is not kept here."""
        return next(self._ids)

    def replace_file(self, source: Source, asked: Sequence[ClientBreakpoint]) -> list[Entry]:
        """The breakpoints of one file are these now. Ones that are as before keep their ids."""
        path = source.path or ""
        entries = self._entries(self.files.get(path, []), asked, source)
        if entries:
            self.files[path] = entries
        else:
            self.files.pop(path, None)
        return entries

    def replace_functions(self, asked: Sequence[ClientFunctionBreakpoint]) -> list[Entry]:
        """The function breakpoints are these now."""
        self.functions = self._entries(self.functions, asked, None)
        return self.functions

    def replace_instructions(self, asked: Sequence[ClientInstructionBreakpoint]) -> list[Entry]:
        """The instruction breakpoints are these now."""
        self.instructions = self._entries(self.instructions, asked, None)
        return self.instructions

    def replace_data(self, asked: Sequence[ClientDataBreakpoint]) -> list[Entry]:
        """The data breakpoints are these now."""
        self.data = self._entries(self.data, asked, None)
        return self.data

    def get(self, id: int) -> Entry | None:
        return self._by_id.get(id)

    def of_debugpy(self, id: int) -> Entry | None:
        """The breakpoint that debugpy knows by that id, from us or from the agent."""
        return self._by_id.get(id & 0xFFFFF) if id >= FIRST_ENTRY_ID else self._by_debugpy.get(id)

    def told_by_debugpy(self, entry: Entry, answer: DebugpyBreakpoint) -> None:
        """debugpy answered a request, or changed its mind."""
        entry.debugpy = answer
        if answer.id is not None:
            self._by_debugpy[answer.id] = entry

    def told_by_agent(self, state: Breakpoint, never_hit: bool) -> Entry | None:
        """Take over what the agent says now, with `never_hit` because the program ends; return the breakpoint.

        None if that is gone, or has stopped in the running program, of which the agent does not know.
        """
        entry = self.get(state.id)
        if entry is None or (entry.hit and never_hit):
            return None
        entry.agent = state
        if never_hit:
            entry.never_hit = state.message
        return entry

    def stopped_at(self, ids: Iterable[int]) -> None:
        """The program has stopped at these."""
        for entry in map(self.get, ids):
            if entry is not None:
                entry.hit = True

    def never_hit(self) -> list[str]:
        """Return a sentence for each breakpoint at which the program, now ended, has never stopped, if known."""
        sentences = []
        for entry in self._all():
            why = entry.never_hit
            if why is None and isinstance(entry.asked, ClientBreakpoint):
                why = entry.shown().message
            if not entry.hit and why and not getattr(entry.asked, "log_message", None):
                sentences.append(f"{entry.title()}: the breakpoint was never hit. {why.removeprefix('Never hit. ')}")
        return sentences

    def _all(self) -> list[Entry]:
        lines = [entry for entries in self.files.values() for entry in entries]
        return [*lines, *self.data, *self.functions, *self.instructions]

    def forget_program(self) -> None:
        """The program is gone, and with it what it said."""
        self._by_debugpy.clear()
        for entry in self._by_id.values():
            entry.agent = entry.debugpy = None
            entry.entered = entry.hit = False
            entry.never_hit = None

    def _entries(self, before: list[Entry], asked: Sequence[Asked], source: Source | None) -> list[Entry]:
        entries = []
        for wish in asked:
            same = next((entry for entry in before if entry.asked == wish and entry not in entries), None)
            entries.append(same or Entry(next(self._ids), wish, source))
        for entry in before:
            self._by_id.pop(entry.id, None)
        self._by_id.update((entry.id, entry) for entry in entries)
        self._by_debugpy = {id: entry for id, entry in self._by_debugpy.items() if entry.id in self._by_id}
        return entries


def for_agent(entry: Entry, kind: type[AgentBreakpoint]) -> AgentBreakpoint:
    """The client's breakpoint as the agent wants it: the same fields, and our id."""
    fields = {name: getattr(entry.asked, name) for name in kind.__struct_fields__ if name != "id"}
    return kind(id=entry.id, **fields)


def for_debugpy(entry: Entry) -> Asked:
    """A breakpoint as debugpy gets it: on the line to which the agent moved it; it counts where the agent does."""
    asked = entry.asked
    if entry.agent is not None:
        condition = counted(entry.id, asked.condition, asked.hit_condition, getattr(asked, "log_message", None))
        asked = msgspec.structs.replace(asked, condition=condition, hit_condition=None)
    if isinstance(asked, ClientBreakpoint):
        log_message = log_messages.for_debugpy(asked.log_message) if asked.log_message else None
        return msgspec.structs.replace(asked, line=entry.line() or asked.line, mode=None, log_message=log_message)
    return asked
