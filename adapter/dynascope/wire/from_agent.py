"""What an agent says to the adapter; see `wire.messages`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from dynascope.wire.dap import (
    Breakpoint,
    Source,
    StackFrame,
)
from dynascope.wire.exceptions import ExceptionInfo
from dynascope.wire.messages import Area, Message, StopReason


class Hello(Message, tag="hello"):
    """First message of an agent: who it is, and where its stopped threads wait."""

    pid: int
    parent_pid: int
    executable: str
    python_version: str
    suspension: Literal["pydevd", "own loop"]
    suspension_reason: str | None = None
    """Why not inside pydevd, when debugpy is there and failed the self-test."""


class DynamoReady(Message, tag="dynamoReady"):
    """torch._dynamo is imported. `missing` names what this torch lacks; if it is empty the hooks are in."""

    torch_version: str
    missing: list[str] = msgspec.field(default_factory=list)


class Stopping(Message, tag="stopping"):
    """A thread is about to wait at a compile-time stop. The agent goes on only after `Acknowledge`.

    `frames` is innermost first: the first `symbolic_frames` are Dynamo's; with `own_loop` those of the running program
    follow, served by the agent too. Without `own_loop`, debugpy reports the stop and owns the frames below.
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
    """What there is to read at this stop alone: the graph so far."""
    exception: ExceptionInfo | None = None
    """What one of the agent's own exception filters stopped at."""


class Resumed(Message, tag="resumed"):
    """That thread goes on; every id of its stop is dead, and its `documents` are gone."""

    thread_ident: int
    documents: list[Source] = msgspec.field(default_factory=list)


class BreakpointChanged(Message, tag="breakpointChanged"):
    """Dynamo compiled, skipped or will not trace the breakpoint's line: its state is another now."""

    breakpoint: Breakpoint
    never_hit: bool = False
    """The program is about to exit, and the message is why the breakpoint was never hit."""


class SourcesLoaded(Message, tag="sourcesLoaded"):
    """A compile has left documents (graphs, generated code); `removed` are those given up for them."""

    sources: list[Source]
    removed: list[Source] = msgspec.field(default_factory=list)


class CompileBegins(Message, tag="compileBegins"):
    """While a thread is stopped, another enters the compiler, where it is going to wait for Dynamo's lock."""

    thread_ident: int


class Invalidated(Message, tag="invalidated"):
    """What a client has seen of a stopped thread is another now: variables were set, the compile was changed."""

    thread_ident: int
    areas: list[Area]
    stack_frame_id: int | None = None


class Output(Message, tag="output"):
    """A line for the debug console: a logpoint's text, or an error of ours (`category` "important")."""

    category: Literal["console", "important", "stdout", "stderr"]
    output: str
    path: str | None = None
    line: int | None = None


class Reply(Message, tag="reply"):
    """Answer to the request `id`; `body` is JSON the adapter need not read."""

    id: int
    body: msgspec.Raw = msgspec.Raw(b"{}")


class Failure(Message, tag="failure"):
    """The request `id` could not be served; `message` is a sentence for the user."""

    id: int
    message: str


FromAgent: TypeAlias = (
    Hello
    | DynamoReady
    | Stopping
    | Resumed
    | BreakpointChanged
    | SourcesLoaded
    | CompileBegins
    | Invalidated
    | Output
    | Reply
    | Failure
)
