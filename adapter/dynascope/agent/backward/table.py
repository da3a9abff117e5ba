"""The breakpoints of the backward: on nodes, hooks and passes, by name or forward line.

A function breakpoint's name is case-sensitive, with `*` and `?` as in a shell. It names

* a node: `AddmmBackward0`, `*Convolution*`, `AccumulateGrad`; or one by its place in the engine's order: `NodeCall 5`
* the `backward` of a custom `torch.autograd.Function`: `Scale.backward`
* a hook: its kind (`tensor_pre_hook`, `post_acc_grad_hook` …) or its function
* a pass at the end of the capture: `dce`, `reorder_accumulate_grad_nodes` …; `runtime_wrapper` follows the last one

A line breakpoint with mode `backward` stops at the nodes that its line created in the forward.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence

from dynascope.agent.breakpoints.breakpoint import AgentBreakpoint
from dynascope.agent.program.user_code import real_path
from dynascope.facts.user_stack import UserFrame
from dynascope.wire.breakpoint_texts import names_function

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
