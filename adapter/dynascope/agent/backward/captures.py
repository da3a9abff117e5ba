"""What is known of every captured backward: kept from its capture on, for the runs that reuse it. Holds no tensor."""

from __future__ import annotations

import time
import weakref
from dataclasses import dataclass, field

from dynascope.agent.internals import captured_graph, compiled_autograd
from dynascope.agent.internals.autograd_graph import ForwardFrame
from dynascope.agent.internals.compiled_autograd import Compiler, Given


@dataclass(slots=True)
class NodeCall:
    """One autograd node as the engine calls it; `first` counts the graph's nodes before the first of its own."""

    index: int
    name: str
    first: int


@dataclass(slots=True)
class LiftedHook:
    """A hook before its function is known: `position` is that in the graph's `hooks`; None for a hook of C++."""

    kind: str
    position: int | None
    node_call: int
    graph_node: str | None = None
    """The name of the graph's node that calls it."""


@dataclass(slots=True)
class Origin:
    """The NodeCall that an input, size or scalar was lifted for."""

    node_call: int
    name: str


@dataclass(slots=True, eq=False)
class Capture:
    """One captured backward, or one being captured (`milliseconds` is None)."""

    compile_id: str
    reasons: tuple[str, ...] = ()
    accumulates: bool = True
    """`backward()`, which adds into `.grad`; False for `torch.autograd.grad`."""
    node_calls: list[NodeCall] = field(default_factory=list)
    hooks: list[LiftedHook] = field(default_factory=list)
    input_origins: list[Origin] = field(default_factory=list)
    size_origins: list[Origin] = field(default_factory=list)
    scalar_origins: list[Origin] = field(default_factory=list)
    moved_to_cuda: tuple[int, ...] = ()
    calls_of_nodes: dict[str, int] = field(default_factory=dict)
    """The NodeCall that each node of the finished graph was made for, by the node's name."""
    forward_frames: dict[int, ForwardFrame] = field(default_factory=dict)
    """The program's line that made the node of a NodeCall, where it is known."""
    began: float = 0.0
    milliseconds: float | None = None
    failed: bool = False
    runs: int = 0

    @property
    def current(self) -> NodeCall | None:
        return self.node_calls[-1] if self.node_calls else None


class Captures:
    """Follows captures as an observer does; ask `of` for what is known of one."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Compiler, Capture] = weakref.WeakKeyDictionary()

    def of(self, compiler: Compiler) -> Capture:
        """One that was captured while nobody followed has an id and nothing else."""
        capture = self._known.get(compiler)
        if capture is None:
            capture = self._known[compiler] = Capture(compiled_autograd.capture_id(compiler))
        return capture

    def before(self, capture: Capture) -> list[Capture]:
        """Those made earlier and still in torch's cache, oldest first."""
        known = list(self._known.values())
        return known[: known.index(capture)] if capture in known else known

    def begins(self, compiler: Compiler, given: Given) -> Capture:
        origins = [[Origin(index, name) for index, name in group] for group in given.origins]
        capture = Capture(
            compiled_autograd.capture_id(compiler),
            reasons=tuple(given.reasons),
            accumulates=given.accumulates,
            input_origins=origins[0],
            size_origins=origins[1],
            scalar_origins=origins[2],
            began=time.perf_counter(),
        )
        self._known[compiler] = capture
        return capture

    def node_called(self, compiler: Compiler, index: int, name: str) -> Capture:
        capture = self.of(compiler)
        graph = compiled_autograd.graph_of(compiler)
        capture.node_calls.append(NodeCall(index, name, len(graph.nodes) if graph is not None else 0))
        return capture

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> LiftedHook:
        capture = self.of(compiler)
        current = capture.current
        lifted = LiftedHook(
            kind,
            None if kind == "cpp_tensor_pre_hook" else hook,
            current.index if current else 0,
            captured_graph.last_call(compiled_autograd.graph_of(compiler)),
        )
        capture.hooks.append(lifted)
        return lifted

    def moved(self, compiler: Compiler, positions: list[int]) -> None:
        self.of(compiler).moved_to_cuda = tuple(positions)

    def ends(self, compiler: Compiler, failed: bool) -> Capture:
        capture = self.of(compiler)
        capture.failed = failed
        capture.milliseconds = (time.perf_counter() - capture.began) * 1000
        return capture
