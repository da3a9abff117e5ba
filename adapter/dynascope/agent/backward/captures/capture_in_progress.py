"""A capture under way, for the debugger: what it started from, the autograd nodes themselves, and where each was
made."""

from __future__ import annotations

import bisect
import os
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.backward.captures.capture_reasons import explain
from dynascope.agent.backward.captures.captures import Capture, LiftedHook, node_text
from dynascope.agent.backward.captures.passes import PassRun
from dynascope.agent.inspection.values.callable_location import Place, place_of
from dynascope.agent.internals.autograd import captured_graph, compiled_autograd
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd import state as autograd_state
from dynascope.agent.internals.autograd.nodes import AutogradNode, Call, ForwardFrame
from dynascope.agent.internals.autograd.observer import Compiler, Given
from dynascope.agent.program.user_code import OUR_FOLDER, real_path

_TORCH = os.path.dirname(real_path(torch.__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class MadeNode:
    """An autograd node that a line of the forward made; `index` is its place in the engine's order."""

    index: int
    name: str


class LiveCapture:
    """From `begin_capture` until the graph first runs; holds the fakes and the autograd nodes no longer than that."""

    def __init__(self, compiler: Compiler, capture: Capture, given: Given, earlier: Sequence[Capture] = ()) -> None:
        self.compiler = compiler
        self.capture = capture
        self._earlier = earlier
        self.inputs: Sequence[Any] = given.inputs
        self.sizes: Sequence[Any] = given.sizes
        self.scalars: Sequence[Any] = given.scalars
        self.checks_nans = given.check_nans
        self.call: Call | None = autograd_nodes.backward_call()
        self.passes: list[PassRun] = []
        self.node_texts: dict[str, str] = {}
        """How nodes were written when the passes began: those that a pass removes are gone afterwards."""
        self.hooks_given: Sequence[Any] = ()
        """The hooks' functions, once the captured graph is about to run."""
        self.functions: dict[int, str] = {}
        """By NodeCall: the class of the `torch.autograd.Function`, of nodes that are written in Python."""
        self._calls_by_name: dict[str, int] = {}
        self._nodes_ordered = 0
        self._calls_agreed = 0
        self._passes_have_begun = False
        self._order: list[AutogradNode | None] | None = None
        self._tensors: list[Any] | None = None
        self._by_line: dict[tuple[str, int], list[MadeNode]] | None = None

    @property
    def graph(self) -> Any:
        return compiled_autograd.graph_of(self.compiler)

    def reasons(self) -> tuple[str, ...]:
        """Why this backward is captured, and what is known about it."""
        return explain(self.capture, self._earlier)

    @property
    def caller(self) -> types.FrameType | None:
        """The innermost frame of the program, outside torch: the one with `loss.backward()`."""
        frame = self.call.frame if self.call is not None else None
        while frame is not None and real_path(frame.f_code.co_filename).startswith(_TORCH):
            frame = frame.f_back
        return frame

    def node(self, index: int) -> AutogradNode | None:
        """The autograd node of a NodeCall; None for the root, and where the walk is not the engine's."""
        order = self._walked()
        if index >= len(order) or autograd_nodes.name_of(order[index]) != self.capture.names.get(index):
            return None
        return order[index]

    def name_of(self, index: int) -> str | None:
        """The name of a NodeCall: as the engine said it; of one to come, as the walk has it, if it was right so far."""
        name, order = self.capture.names.get(index), self._walked()
        if name is not None or index >= len(order):
            return name
        return autograd_nodes.name_of(order[index]) if self._walk_agrees() else None

    def _walk_agrees(self) -> bool:
        """Whether the engine has called what the walk says, as far as it has come."""
        order, calls = self._walked(), self.capture.node_calls
        while self._calls_agreed < len(calls):
            call = calls[self._calls_agreed]
            if call.index >= len(order) or autograd_nodes.name_of(order[call.index]) != call.name:
                return False
            self._calls_agreed += 1
        return True

    def node_text(self, index: int) -> str:
        """`AddmmBackward0 (NodeCall 2)`; `NodeCall 2` where nobody can say yet what that will be."""
        return node_text(self.name_of(index), index)

    def _walked(self) -> list[AutogradNode | None]:
        if self._order is None:
            self._order = autograd_nodes.walk(self.call) if self.call is not None else []
        return self._order

    def made_at(self, index: int) -> list[ForwardFrame]:
        """The program's frames that made a NodeCall's node, innermost first, without torch's and ours; [] if not
        known."""
        node = self.node(index)
        return _frames_of_program(node) if node is not None else []

    def nodes_by_forward_line(self) -> dict[tuple[str, int], list[MadeNode]]:
        """File and line → all nodes of this backward that it made; those to come included."""
        if self._by_line is None:
            self._by_line = {}
            for index, node in enumerate(self._walked()):
                for frame in _frames_of_program(node)[:1] if node is not None else ():
                    made = MadeNode(index, autograd_nodes.name_of(node))
                    self._by_line.setdefault((frame.path, frame.line), []).append(made)
        return self._by_line

    def aot_backward(self, index: int) -> dict[str, Any]:
        """Of a node that is the backward of a compiled forward: what PyTorch copies it from; of any other, nothing."""
        node = self.node(index)
        return autograd_state.aot_backward(node) if node is not None else {}

    def gradients(self, index: int) -> list[Any]:
        """What is known of the gradients that flow into a node: `shape`, `dtype`, `device`, from the forward."""
        node = self.node(index)
        return list(autograd_nodes.input_metadata(node)) if node is not None else []

    def node_call_of_node(self, node: Any) -> int | None:
        """The NodeCall that a node of the graph was made for; of a lifted input, the one it was lifted for."""
        position = captured_graph.input_position(node)
        if position is not None:
            origins = self.capture.input_origins
            return origins[position] if position < len(origins) else None
        noted = captured_graph.node_call_of(node)
        return noted if noted is not None else self._by_order().get(node.name)

    def _by_order(self) -> dict[str, int]:
        """Nodes in the order they were made, before any pass: those of one NodeCall stand together."""
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
        """Note what leads from the finished graph back to the engine's nodes and the forward, before they are gone."""
        graph = self.graph
        for node in graph.nodes if graph is not None else ():
            index = self.node_call_of_node(node)
            if index is not None:
                self.capture.calls_of_nodes[node.name] = index
        for call in self.capture.node_calls if torch.is_anomaly_enabled() else ():
            if frames := self.made_at(call.index):
                self.capture.forward_frames[call.index] = frames[0]

    def passes_begin(self, with_texts: bool) -> None:
        """Note what the passes will change or remove; `with_texts`, for a stop that will show it."""
        self._by_order()
        self._passes_have_begun = True
        if with_texts and self.graph is not None:
            self.node_texts = {node.name: captured_graph.node_text(node) for node in self.graph.nodes}

    def place_of_hook(self, hook: LiftedHook) -> Place | None:
        """Where the function of a hook is written; None while it is not known."""
        if hook.position is not None and hook.position < len(self.hooks_given):
            return place_of(self.hooks_given[hook.position])
        same = [each for each in self.capture.hooks if (each.kind, each.node_call) == (hook.kind, hook.node_call)]
        functions = self._registered(hook.kind, hook.node_call)
        at = next((i for i, each in enumerate(same) if each is hook), 0)
        return place_of(functions[at]) if len(functions) >= len(same) else None

    def _registered(self, kind: str, index: int) -> list[Any]:
        """The hooks on a node's tensors, where the tensor is at hand: a leaf, or a local of the frames below."""
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


def _frames_of_program(node: AutogradNode) -> list[ForwardFrame]:
    return [
        frame
        for frame in autograd_nodes.made_at(node)
        if not frame.path.startswith("<")
        and not real_path(frame.path).startswith(_TORCH)
        and not real_path(frame.path).startswith(OUR_FOLDER)
    ]
