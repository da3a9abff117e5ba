"""The messages from an agent to the adapter; see `wire.messages`."""

from __future__ import annotations

from typing import Literal

import msgspec

from dynascope.wire.dap import Breakpoint, ExceptionInfo, Source, StackFrame
from dynascope.wire.messages import Area, FromAgent, StopReason


class Hello(FromAgent, tag="hello"):
    """The first message of an agent: its process, and where its stopped threads wait."""

    pid: int
    suspension: Literal["pydevd", "own loop"]
    suspension_reason: str | None = None
    """Why threads do not wait inside pydevd, if debugpy is attached and failed the self-test."""


class DynamoReady(FromAgent, tag="dynamoReady"):
    """torch._dynamo is imported. `missing` lists what this torch lacks; if it is empty, the hooks are installed."""

    torch_version: str
    missing: list[str] = msgspec.field(default_factory=list)


class Stopping(FromAgent, tag="stopping"):
    """A thread is about to wait at a compile-time stop. The agent continues only after `Acknowledge`.

    `frames` is innermost first: the first `symbolic_frames` are Dynamo's; with `own_loop` those of the running program
    follow, served by the agent too. Without `own_loop`, debugpy reports the stop and serves the outer frames.
    """

    thread_ident: int
    thread_id: int
    thread_name: str
    reason: StopReason
    description: str
    frames: list[StackFrame]
    symbolic_frames: int
    own_loop: bool
    hit_breakpoint_ids: list[int] = msgspec.field(default_factory=list)
    text: str | None = None
    documents: list[Source] = msgspec.field(default_factory=list)
    """The documents that exist at this stop only: the graph so far."""
    exception: ExceptionInfo | None = None
    """The exception that one of the agent's filters stopped at."""
    goes_back: bool = False
    """Whether the user can go back from this stop, and restart its symbolic frames."""
    is_past: bool = False
    """Whether it is a line of a compile that has ended: the user looks at it, and nothing has stopped there."""


class RankJoined(FromAgent, tag="rankJoined"):
    """The process has joined the process group of all ranks of a job (`init_process_group`), as this rank."""

    rank: int


class Resumed(FromAgent, tag="resumed"):
    """The thread has been resumed; every id of its stop is invalid, and its `documents` are removed."""

    thread_ident: int
    documents: list[Source] = msgspec.field(default_factory=list)


class BreakpointChanged(FromAgent, tag="breakpointChanged"):
    """The breakpoint's state changed: Dynamo compiled, skipped or will not trace its line."""

    breakpoint: Breakpoint
    never_hit: bool = False
    """Whether the program is about to exit, and the message says why the breakpoint was never hit."""
    compiled: bool = True
    """Whether this process has compiled anything, if the breakpoint was never hit."""


class SourcesLoaded(FromAgent, tag="sourcesLoaded"):
    """A compile has produced documents (graphs, generated code); `removed` were dropped to make room for them."""

    sources: list[Source]
    removed: list[Source] = msgspec.field(default_factory=list)


class CompileBegins(FromAgent, tag="compileBegins"):
    """While a thread is stopped, this one enters the compiler, where it will wait for Dynamo's lock."""

    thread_ident: int


class Invalidated(FromAgent, tag="invalidated"):
    """The client's view of a stopped thread is stale: variables were set, or the compile was changed."""

    thread_ident: int
    areas: list[Area]


class ConsoleOutput(FromAgent, tag="output"):
    """A line for the debug console: a logpoint's text, or an error in Dynascope (`category` "important")."""

    category: Literal["console", "important", "stdout", "stderr"]
    output: str
    path: str | None = None
    line: int | None = None


class Reply(FromAgent, tag="reply"):
    """The answer to the request `id`; `body` is JSON that the adapter need not read."""

    id: int
    body: msgspec.Raw = msgspec.Raw(b"{}")


class Failure(FromAgent, tag="failure"):
    """The request `id` failed; `message` is a sentence for the user."""

    id: int
    message: str
