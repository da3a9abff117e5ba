"""The breakpoints of the backward: on nodes, hooks and passes, by name or forward line.

A function breakpoint's name is case-sensitive, with `*` and `?` as in a shell. It names

* a node: `AddmmBackward0`, `*Convolution*`, `AccumulateGrad`; or one by its place in the engine's order: `NodeCall 5`
* the `backward` of a custom `torch.autograd.Function`: `Scale.backward`
* a hook: its kind (`tensor_pre_hook`, `post_acc_grad_hook` …) or its function
* a pass at the end of the capture: `dce`, `reorder_accumulate_grad_nodes` …; `runtime_wrapper` follows the last one

A line breakpoint with mode `backward` stops at the nodes that its line created in the forward.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.breakpoints.outlook import why_not_stopped
from dynascope.agent.events.torch_names import HOOK_CALLS
from dynascope.agent.program.user_code import real_path
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.breakpoint_texts import names_function
from dynascope.wire.dap import Breakpoint
from dynascope.wire.from_agent import BreakpointChanged
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.backward.captures.capture_in_progress import LiveCapture

_OF_BACKWARD = re.compile(
    r"(?i:nodecall\s+\d+)|.*Backward.*|.*\.backward|(torch::autograd::)?(AccumulateGrad|GraphRoot|CopySlices)"
    r"|(cpp_)?tensor_pre_hook|pre_hook|post_hook|post_acc_grad_hook|unpack_hook|dce|runtime_wrapper"
    r"|(reorder|delay)_[\w*?]+|Accumulate[\w*?]+|remove_unused_sizes|move_graph_nodes_to_cuda"
)
BY_NAME = "Stops in the backward, where compiled autograd captures it."
"""The message of a function breakpoint that names a part of the backward."""
_NODE_CALL = re.compile(r"NodeCall\s+(\d+)", re.IGNORECASE)


class BackwardTable:
    """An immutable table of the breakpoints of the backward. A new table replaces it."""

    def __init__(
        self,
        lines: dict[str, dict[int, list[AgentBreakpoint]]] | None = None,
        names: Sequence[tuple[str, AgentBreakpoint]] = (),
    ) -> None:
        """Store `lines` (real path → line → breakpoints) and `names` (pattern, breakpoint)."""
        self.lines = {path: at for path, at in (lines or {}).items() if at}
        self.names = tuple(names)
        self.is_empty = not self.lines and not self.names

    @property
    def wants_lines(self) -> bool:
        """Whether the forward must record where it creates its nodes."""
        return bool(self.lines)

    def with_file(self, path: str, breakpoints: Iterable[AgentBreakpoint]) -> BackwardTable:
        at: dict[int, list[AgentBreakpoint]] = {}
        for breakpoint in breakpoints:
            if breakpoint.line is not None:
                at.setdefault(breakpoint.line, []).append(breakpoint)
        return BackwardTable({**self.lines, real_path(path): at}, self.names)

    def with_names(self, names: Sequence[tuple[str, AgentBreakpoint]]) -> BackwardTable:
        return BackwardTable(self.lines, names)

    def at_node(self, index: int, name: str, function: str | None) -> list[AgentBreakpoint]:
        """Return breakpoints on a node; `function` names the custom Function's class, if Python's."""
        return [breakpoint for pattern, breakpoint in self.names if names_node(pattern, index, name, function)]

    def at_line(self, frame: UserFrame) -> Sequence[AgentBreakpoint]:
        return self.lines.get(real_path(frame.path), {}).get(frame.line, ())

    def at_hook(self, kind: str, function: str | None) -> list[AgentBreakpoint]:
        return [
            breakpoint
            for pattern, breakpoint in self.names
            if fnmatch.fnmatchcase(kind, pattern) or (function is not None and names_function(pattern, function))
        ]

    def at_pass(self, name: str) -> list[AgentBreakpoint]:
        return [breakpoint for pattern, breakpoint in self.names if fnmatch.fnmatchcase(name, pattern)]


def node_call_named(pattern: str) -> int | None:
    """Return the 5 of `NodeCall 5`; None for any other name."""
    numbered = _NODE_CALL.fullmatch(pattern.strip())
    return int(numbered[1]) if numbered else None


def names_node(pattern: str, index: int, name: str, function: str | None) -> bool:
    """Whether `pattern` names this node, with or without its C++ namespace."""
    numbered = node_call_named(pattern)
    if numbered is not None:
        return numbered == index
    if fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name.rpartition("::")[2], pattern):
        return True
    return function is not None and names_function(pattern, f"{function}.backward")


def names_backward(pattern: str) -> bool:
    """Whether a function breakpoint can only mean a part of the backward."""
    return _OF_BACKWARD.fullmatch(pattern.strip()) is not None


_ALIKE = 0.8
"""How similar a name must be to be proposed, as difflib measures it."""
_SHOWN = 12
"""Names listed if none is similar to the requested one."""
_NOT_CAPTURED = (
    "No backward was captured: compiled autograd was off, or each backward was in its cache before. `compiledAutograd` "
    "in a launch configuration and `dynascope debug --compiled-autograd` turn it on."
)


class NeverHit:
    """Record captured backwards on the threads that ran them; read when the program ends."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._captures = 0
        self._node_calls = 0
        self._names: dict[str, None] = {}
        self._told: dict[int, str] = {}

    def captured(self, live: LiveCapture, table: BackwardTable) -> None:
        """Report whether backwards up to this captured one had the names of breakpoints."""
        with self._lock:
            self._captures += 1
            self._node_calls = max([self._node_calls, *live.capture.names])
            nodes = (name.rpartition("::")[2] for name in live.capture.names.values())
            functions = (f"{function}.backward" for function in live.functions.values())
            hooks = (hook.kind for hook in live.capture.hooks)
            self._names |= dict.fromkeys([*nodes, *functions, *hooks, *(each.name for each in live.passes)])
            for pattern, breakpoint in table.names:
                message = BY_NAME if breakpoint.reached else self._missing(pattern)
                if names_backward(pattern) and self._told.get(breakpoint.id, BY_NAME) != message:
                    self._told[breakpoint.id] = message
                    self._send(BreakpointChanged(Breakpoint(id=breakpoint.id, verified=True, message=message)))

    def at_exit(self, table: BackwardTable) -> list[Breakpoint]:
        """Return the states of breakpoints that never stopped, with the reason."""
        with self._lock:
            named = [
                Breakpoint(id=breakpoint.id, verified=True, message=why)
                for pattern, breakpoint in table.names
                if names_backward(pattern) and (why := self._why(breakpoint, self._missing(pattern)))
            ]
            at_lines = [
                Breakpoint(id=breakpoint.id, verified=True, line=breakpoint.line, message=why)
                for lines in table.lines.values()
                for at in lines.values()
                for breakpoint in at
                if (why := self._why(breakpoint, _NOT_MADE))
            ]
        return named + at_lines

    def _why(self, breakpoint: AgentBreakpoint, unreached: str) -> str | None:
        if breakpoint.has_stopped:
            return None
        if not self._captures:
            return _NOT_CAPTURED
        return why_not_stopped(breakpoint, "A backward") if breakpoint.reached else unreached

    def _missing(self, pattern: str) -> str:
        if node_call_named(pattern) is not None:
            return f"No backward so far has it: the longest goes to NodeCall {self._node_calls}."
        if pattern in HOOK_CALLS:
            return f"No backward so far ({self._captures} captured) has any {pattern}."
        text = f"No node, hook or pass of a backward so far ({self._captures} captured) is called {pattern}"
        alike = difflib.get_close_matches(pattern, self._names, 1, _ALIKE)
        if alike:
            return f"{text}. Did you mean {alike[0]}?"
        nodes = [name for name in self._names if "Backward" in name or "Grad" in name]
        more = ", …" if len(nodes) > _SHOWN else ""
        return f"{text}; its nodes are {', '.join(nodes[:_SHOWN])}{more}."


_NOT_MADE = (
    "Nothing in the backwards that were captured was made by this line: it did not run since the breakpoint was set, "
    "runs compiled, or makes nothing that has a gradient."
)
