"""The arguments of `launch` and `attach`, debugpy's and Dynascope's own, and the paths that they map.

Only those that the adapter reads are typed here. All others go to debugpy unchanged; those in `OURS` never do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Raw, field

from dynascope.dap.protocol.arguments import ExceptionFilterOptions
from dynascope.wire.dap import DapStruct, Source, StackFrame

RANK_SESSIONS = 16
"""How many ranks of a machine have sessions of their own by default: an editor has an adapter for each."""
INHERITED = (
    "record",
    "history",
    "debugDynamo",
    "compiledAutograd",
    "raiseTimeouts",
    "exceptionFilters",
    "rankSessions",
)
"""Dynascope's arguments that the sessions of child processes have as well."""
OURS = ("runtime", "token", *INHERITED)


class RestartArguments(DapStruct):
    """`arguments` is the current launch or attach configuration; None: the one before."""

    arguments: dict[str, Raw] | None = None


class Address(DapStruct):
    """The value of `connect` or `listen` in an attach configuration."""

    port: int
    host: str = "127.0.0.1"


class PathMapping(DapStruct):
    """`localRoot` on the client's machine is `remoteRoot` on the program's machine; "." means the same path."""

    local_root: str
    remote_root: str


class StartArguments(DapStruct):
    """The arguments that `launch` and `attach` share."""

    runtime: bool = True
    """False: compile time only, without debugpy."""
    record: bool | Literal["facts", "guards"] = True
    """True: the agent writes Dynamo's decisions into `.dynascope/`, as `dynascope run` does.

    "facts": without graphs and generated code. "guards": with what guards cost, measured after each compile.
    """
    history: bool = True
    """True: the agent records the history of values in compiles that may stop."""
    debug_dynamo: bool = False
    """True: pydevd keeps tracing while Dynamo traces, so that breakpoints inside torch._dynamo work (slow)."""
    compiled_autograd: bool | str = False
    """A backend's name, or True for `inductor`: the program's backwards are captured and compiled with it."""
    raise_timeouts: bool | None = None
    """Whether process groups wait for a rank that is stopped; None: in child processes, which are debugged together."""
    rank_sessions: int = RANK_SESSIONS
    """How many ranks on this machine get sessions of their own; the others are only recorded and compared."""
    token: str | None = None
    exception_filters: list[ExceptionFilterOptions] = field(default_factory=list)
    """The agent's filters that are on besides the client's, whose user interface may not offer them."""
    just_my_code: bool = True
    stop_on_entry: bool = False
    path_mappings: list[PathMapping] | None = None
    no_debug: bool | None = None
    on_terminate: str | bool | None = None
    """"KeyboardInterrupt": `terminate` only interrupts the program."""

    @property
    def autograd_backend(self) -> str | None:
        """Return the backend of captured backwards; None leaves compiled autograd to the program."""
        if self.compiled_autograd is True:
            return "inductor"
        return self.compiled_autograd or None


class LaunchArguments(StartArguments):
    """The arguments of `launch`. Exactly one of `program`, `module` and `code` is given."""

    program: str | None = None
    module: str | None = None
    code: str | list[str] | None = None
    args: list[str] | str = field(default_factory=list)
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    python: str | list[str] | None = None
    python_path: str | list[str] | None = None
    python_args: list[str] = field(default_factory=list)
    console: Literal["internalConsole", "integratedTerminal", "externalTerminal"] | None = None
    console_title: str = "Dynascope"


class AttachArguments(StartArguments):
    """The arguments of `attach`. `connect`, `listen` or `processId` say where the program is."""

    connect: Address | None = None
    listen: Address | None = None
    host: str | None = None
    port: int | None = None
    process_id: int | str | None = None
    sub_process_id: int | None = None


def for_debugpy(configuration: dict[str, Raw]) -> dict[str, Raw]:
    """Return the configuration without the arguments that debugpy does not know."""
    return {name: value for name, value in configuration.items() if name not in OURS}


class PathMap:
    """Translate paths between the client's machine and the program's, by the first mapping that matches."""

    def __init__(self, mappings: Sequence[PathMapping] | None) -> None:
        self._roots = [(_root(m.local_root), _root(m.remote_root)) for m in mappings or () if m.remote_root != "."]

    def to_program(self, path: str) -> str:
        for local, remote in self._roots:
            if (rest := _below(path, local)) is not None:
                return remote + rest
        return path

    def to_client(self, path: str) -> str:
        for local, remote in self._roots:
            if (rest := _below(path, remote)) is not None:
                return local + rest
        return path

    def source_to_client(self, source: Source | None) -> Source | None:
        """Return a copy with its path translated."""
        if not self._roots or source is None or source.path is None or source.source_reference:
            return source
        return msgspec.structs.replace(source, path=self.to_client(source.path))

    def frame_to_client(self, frame: StackFrame) -> StackFrame:
        """Return a copy with its path translated."""
        return msgspec.structs.replace(frame, source=self.source_to_client(frame.source))


def _root(path: str) -> str:
    return path.rstrip("/\\") if len(path) > 1 else os.getcwd() if path == "." else ""


def _below(path: str, root: str) -> str | None:
    """Return the rest of `path` after `root`, with its separator; None if it is outside `root`."""
    if path.startswith(root) and (len(path) == len(root) or path[len(root)] in "/\\"):
        return path[len(root) :]
    return None
