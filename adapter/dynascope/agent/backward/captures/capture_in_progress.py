"""A capture in progress: its inputs, autograd nodes and their forward lines, and the points at which it can stop."""

from __future__ import annotations

import bisect
import os
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from dynascope.agent.backward.captures.capture_reasons import explain
from dynascope.agent.backward.captures.captures import Capture, LiftedHook, PassRun, node_text
from dynascope.agent.events.autograd.compiled_autograd import Compiler, Given
from dynascope.agent.inspection.values.locations import CallablePlace, Place, place_of
from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.internals.autograd.nodes import AutogradNode, BackwardCall
from dynascope.agent.internals.autograd.state import graph_of
from dynascope.agent.program.user_code import OUR_FOLDER, real_path
from dynascope.facts.user_stack import UserFrame

_TORCH = os.path.dirname(real_path(torch.__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class MadeNode:
    """An autograd node that a line of the forward created; `index` is its engine order."""

    index: int
    name: str


class LiveCapture:
    """Keep fakes and autograd nodes only from `begin_capture` until the graph first runs."""

    def __init__(self, compiler: Compiler, capture: Capture, given: Given, earlier: Sequence[Capture] = ()) -> None:
        self.compiler = compiler
        self.capture = capture
        self._earlier = earlier
        self.inputs: Sequence[Any] = given.inputs
        self.sizes: Sequence[Any] = given.sizes
        self.scalars: Sequence[Any] = given.scalars
        self.checks_nans = given.check_nans
        self.call: BackwardCall | None = autograd_nodes.backward_call()
        self.passes: list[PassRun] = []
        self.node_texts: dict[str, str] = {}
        """Texts of the nodes from before the passes, as a pass may remove nodes."""
        self.hooks_given: Sequence[Any] = ()
        """The functions of hooks, known when the captured graph is about to run."""
        self.functions: dict[int, str] = {}
        """By NodeCall: the `torch.autograd.Function` class of nodes written in Python."""
        self._calls_by_name: dict[str, int] = {}
        self._nodes_ordered = 0
        self._calls_agreed = 0
        self._passes_have_begun = False
        self._order: list[AutogradNode | None] | None = None
        self._tensors: list[Any] | None = None
        self._by_line: dict[tuple[str, int], list[MadeNode]] | None = None

    @property
    def graph(self) -> Any:
        return graph_of(self.compiler)

    def reasons(self) -> tuple[str, ...]:
        """Return why this backward is captured, with details."""
        return explain(self.capture, self._earlier)

    @property
    def caller(self) -> types.FrameType | None:
        """Return the innermost frame of the program outside torch, which called `backward()`."""
        frame = self.call.frame if self.call is not None else None
        while frame is not None and real_path(frame.f_code.co_filename).startswith(_TORCH):
            frame = frame.f_back
        return frame

    def node(self, index: int) -> AutogradNode | None:
        """Return the autograd node of a NodeCall; None for the root, or if the engine differs."""
        order = self._walked()
        if index >= len(order) or autograd_nodes.name_of(order[index]) != self.capture.names.get(index):
            return None
        return order[index]

    def name_of(self, index: int) -> str | None:
        """Return the name of a NodeCall from the engine or, if not called yet, from the walk."""
        name, order = self.capture.names.get(index), self._walked()
        if name is not None or index >= len(order):
            return name
        return autograd_nodes.name_of(order[index]) if self._walk_agrees() else None

    def _walk_agrees(self) -> bool:
        """Whether the engine has called the nodes of the walk so far."""
        order, calls = self._walked(), self.capture.node_calls
        while self._calls_agreed < len(calls):
            call = calls[self._calls_agreed]
            if call.index >= len(order) or autograd_nodes.name_of(order[call.index]) != call.name:
                return False
            self._calls_agreed += 1
        return True

    def node_text(self, index: int) -> str:
        """Return `AddmmBackward0 (NodeCall 2)`, or `NodeCall 2` while its name is unknown."""
        return node_text(self.name_of(index), index)

    def _walked(self) -> list[AutogradNode | None]:
        if self._order is None:
            self._order = autograd_nodes.walk(self.call) if self.call is not None else []
        return self._order

    def made_at(self, index: int) -> list[UserFrame]:
        """Return the program's frames that created a node, innermost first, or [] if not known."""
        node = self.node(index)
        return _frames_of_program(node) if node is not None else []

    def forward_place(self, index: int | None) -> Place | None:
        """Return the line of the forward that created the node of a NodeCall, if known."""
        frames = self.made_at(index) if index is not None else []
        return (frames[0].path, frames[0].line) if frames else None

    def nodes_by_forward_line(self) -> dict[tuple[str, int], list[MadeNode]]:
        """Return file and line → all nodes created there, including nodes not called yet."""
        if self._by_line is None:
            self._by_line = {}
            for index, node in enumerate(self._walked()):
                for frame in _frames_of_program(node)[:1] if node is not None else ():
                    made = MadeNode(index, autograd_nodes.name_of(node))
                    self._by_line.setdefault((frame.path, frame.line), []).append(made)
        return self._by_line

    def aot_backward(self, index: int) -> dict[str, Any]:
        """Return what PyTorch copies the backward of a compiled forward from; {} for other nodes."""
        node = self.node(index)
        return autograd_state.aot_backward(node) if node is not None else {}

    def gradients(self, index: int) -> list[Any]:
        """Return `shape`, `dtype`, `device` of a node's incoming gradients, from the forward."""
        node = self.node(index)
        return list(autograd_nodes.input_metadata(node)) if node is not None else []

    def node_call_of_node(self, node: Any) -> int | None:
        """Return the NodeCall that a graph node was created for, or an input lifted for."""
        position = captured_graph.input_position(node)
        if position is not None:
            origins = self.capture.input_origins
            return origins[position] if position < len(origins) else None
        noted = captured_graph.node_call_of(node)
        return noted if noted is not None else self._by_order().get(node.name)

    def _by_order(self) -> dict[str, int]:
        """Return NodeCalls by node name, as nodes of one NodeCall are adjacent before the passes."""
        graph = self.graph
        if not self._passes_have_begun and graph is not None and len(graph.nodes) != self._nodes_ordered:
            self._nodes_ordered = len(graph.nodes)
            firsts = [call.first for call in self.capture.node_calls]
            for position, node in enumerate(graph.nodes):
                at = bisect.bisect_right(firsts, position)
                if at and node.op == "call_function" and node.name not in self._calls_by_name:
                    self._calls_by_name[node.name] = self.capture.node_calls[at - 1].index
        return self._calls_by_name

    def graph_is_done(self) -> None:
        """Record the origins of the finished graph's nodes before the autograd nodes are deleted."""
        graph = self.graph
        for node in graph.nodes if graph is not None else ():
            index = self.node_call_of_node(node)
            if index is not None:
                self.capture.calls_of_nodes[node.name] = index
        for call in self.capture.node_calls if torch.is_anomaly_enabled() else ():
            if frames := self.made_at(call.index):
                self.capture.forward_frames[call.index] = frames[0]

    def passes_begin(self, with_texts: bool) -> None:
        """Record what the passes will change or remove, with texts for a stop that shows them."""
        self._by_order()
        self._passes_have_begun = True
        if with_texts and self.graph is not None:
            self.node_texts = {node.name: captured_graph.node_text(node) for node in self.graph.nodes}

    def place_of_hook(self, hook: LiftedHook) -> CallablePlace | None:
        """Return where the function of a hook is defined; None while it is not known."""
        if hook.position is not None and hook.position < len(self.hooks_given):
            return place_of(self.hooks_given[hook.position])
        same = [each for each in self.capture.hooks if (each.kind, each.node_call) == (hook.kind, hook.node_call)]
        functions = self._registered(hook.kind, hook.node_call)
        at = next((i for i, each in enumerate(same) if each is hook), 0)
        return place_of(functions[at]) if len(functions) >= len(same) else None

    def _registered(self, kind: str, index: int) -> list[Any]:
        """Return the hooks of a node's tensors found at leaves and in locals of the calling frames."""
        node = self.node(index)
        if node is None:
            return []
        leaf = autograd_nodes.leaf_of(node)
        if kind == "post_acc_grad_hook":
            return autograd_nodes.post_accumulate_hooks_of(leaf)
        if kind != "tensor_pre_hook":
            return []
        tensors = [leaf] if leaf is not None else [each for each in self._reachable() if each.grad_fn is node]
        return [function for tensor in tensors for function in autograd_nodes.tensor_hooks_of(tensor)]

    def _reachable(self) -> list[Any]:
        if self._tensors is None:
            self._tensors = autograd_nodes.tensors_in_frames(self.caller, self.call.outputs if self.call else ())
        return self._tensors


def _frames_of_program(node: AutogradNode) -> list[UserFrame]:
    return [
        frame
        for frame in autograd_nodes.made_at(node)
        if not frame.path.startswith("<")
        and not real_path(frame.path).startswith(_TORCH)
        and not real_path(frame.path).startswith(OUR_FOLDER)
    ]


@dataclass(frozen=True, slots=True)
class StopPoint:
    """A point of a capture: before a `node`, at a `hook` put into the graph, or after a `pass`.

    At `run` the graph is captured and compiled, and about to run with real tensors. `node_call` is None after the last
    node.
    """

    kind: Literal["node", "hook", "pass", "run"]
    node_call: int | None = None
    hook: Any = None
    """The `LiftedHook` of a hook."""
    pass_name: str | None = None
