"""The facts of every captured backward and of its passes, kept for the runs that reuse it, without tensors."""

from __future__ import annotations

import bisect
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dynascope.agent.backward.runtime.report import DeviceInputs, HookCall
from dynascope.agent.events.autograd import cache as autograd_cache
from dynascope.agent.events.autograd.compiled_autograd import Compiler, Given
from dynascope.agent.internals.autograd import captured_graph
from dynascope.agent.internals.autograd.cache_keys import NodeKey
from dynascope.agent.internals.autograd.state import capture_id, graph_of
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.facts.user_stack import UserFrame


@dataclass(frozen=True, slots=True)
class Moved:
    """A moved node; `before` and `after` are the last unmoved nodes in front of it, or None."""

    node: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class PassRun:
    """One pass: its name, and the names of the graph's nodes in order before and after it."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    result: object = None

    @property
    def removed(self) -> list[str]:
        kept = set(self.after)
        return [name for name in self.before if name not in kept]

    @property
    def moved(self) -> list[Moved]:
        """Return the fewest nodes whose move explains the new order."""
        place = {name: i for i, name in enumerate(self.before)}
        order = [name for name in self.after if name in place]
        stayed = {order[i] for i in _longest_rising([place[name] for name in order])}
        was, now = _last_before(self.before, stayed), _last_before(order, stayed)
        return [Moved(name, was[name], now[name]) for name in order if name not in stayed]

    def summary(self) -> str:
        """Return `removed 19 nodes`, `moved 3 nodes` or `changed nothing`."""
        parts = [
            f"{verb} {len(nodes)} node{'s' if len(nodes) != 1 else ''}"
            for verb, nodes in (("removed", self.removed), ("moved", self.moved))
            if nodes
        ]
        if isinstance(self.result, list) and self.result:
            parts.append(f"chose inputs {', '.join(map(str, self.result))} to move at run time")
        return ", ".join(parts) or "changed nothing"


def _last_before(order: Sequence[str], stayed: set[str]) -> dict[str, str | None]:
    latest: dict[str, str | None] = {}
    last = None
    for name in order:
        latest[name] = last
        if name in stayed:
            last = name
    return latest


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    tails: list[int] = []
    positions: list[int] = []
    before: list[int] = [-1] * len(numbers)
    for i, number in enumerate(numbers):
        at = bisect.bisect_left(tails, number)
        before[i] = positions[at - 1] if at else -1
        if at == len(tails):
            tails.append(number)
            positions.append(i)
        else:
            tails[at] = number
            positions[at] = i
    chosen = set()
    last = positions[-1] if positions else -1
    while last >= 0:
        chosen.add(last)
        last = before[last]
    return chosen


@dataclass(slots=True)
class NodeCall:
    """An autograd node that the engine calls; `first` is the number of graph nodes before it."""

    index: int
    name: str
    first: int


@dataclass(slots=True)
class LiftedHook:
    """A hook whose function is unknown; `position` is its index in `hooks`, or None for C++."""

    kind: str
    position: int | None
    node_call: int
    graph_node: str | None = None
    """The name of the graph's node that calls it."""


@dataclass(slots=True, eq=False)
class Capture:
    """One backward, captured or being captured (`milliseconds` is None)."""

    compile_id: str
    reasons: tuple[str, ...] = ()
    accumulates: bool = True
    """True for `backward()`, which adds into `.grad`; False for `torch.autograd.grad`."""
    node_calls: list[NodeCall] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """By NodeCall, without those not called yet."""
    hooks: list[LiftedHook] = field(default_factory=list)
    inputs: Mapping[str, DeviceInputs] = field(default_factory=dict)
    """By device, in its first run."""
    all_names: tuple[str, ...] = ()
    """The result of `names_by_index`, once the capture is over."""
    hook_calls: tuple[HookCall, ...] = ()
    """Its hooks in the last run that was reported."""
    input_origins: list[int] = field(default_factory=list)
    """The NodeCall of each input; like the origins of sizes and scalars, empty if torch has none."""
    size_origins: list[int] = field(default_factory=list)
    scalar_origins: list[int] = field(default_factory=list)
    moved_to_cuda: tuple[int, ...] = ()
    calls_of_nodes: dict[str, int] = field(default_factory=dict)
    """The NodeCall that each node of the finished graph was created for, by the node's name."""
    forward_frames: dict[int, UserFrame] = field(default_factory=dict)
    """The program's line that created the node of a NodeCall, if known."""
    keys: list[NodeKey] = field(default_factory=list)
    """The keys that distinguish its nodes from another capture's, by NodeCall; may be empty."""
    clearings: int = 0
    """The number of times the cache had been cleared when it was captured."""
    began: float = 0.0
    milliseconds: float | None = None
    failed: bool = False
    runs: int = 0

    @property
    def current(self) -> NodeCall | None:
        return self.node_calls[-1] if self.node_calls else None

    def names_by_index(self) -> list[str]:
        """Return names by NodeCall, empty if the engine skipped a node that only passes a gradient."""
        names = [""] * (self.node_calls[-1].index + 1 if self.node_calls else 0)
        for call in self.node_calls:
            names[call.index] = call.name
        return names


def node_text(name: str | None, index: int) -> str:
    """Return `AddmmBackward0 (NodeCall 2)`, or `NodeCall 2` without a name."""
    return f"NodeCall {index}" if name is None else f"{name} (NodeCall {index})"


class Captures:
    """Record captures as an observer does; `of` returns one."""

    def __init__(self) -> None:
        self._known: WeakKeys[Compiler, Capture] = WeakKeys()
        self._failed: deque[Capture] = deque(maxlen=16)
        """Kept because their compilers are deleted, while the cache has their nodes."""

    def of(self, compiler: Compiler) -> Capture:
        """Return the record of a capture, with only an id if it was not observed."""
        capture = self._known.get(compiler)
        if capture is None:
            capture = self._known.put(compiler, Capture(capture_id(compiler)))
        return capture

    def before(self, capture: Capture) -> list[Capture]:
        """Return earlier captures that are still in torch's cache, oldest first."""
        captures = [*(other for other in self._known.values() if not other.failed), *self._failed]
        earlier = [other for other in captures if other.began < capture.began and other.clearings == capture.clearings]
        return sorted(earlier, key=lambda other: other.began)

    def begins(self, compiler: Compiler, given: Given) -> Capture:
        # the names next to the indexes are in order of discovery, thus wrong where a backward branches
        origins = [[index for index, _ in group] for group in given.origins]
        capture = Capture(
            capture_id(compiler),
            reasons=tuple(given.reasons),
            accumulates=given.accumulates,
            input_origins=origins[0],
            size_origins=origins[1],
            scalar_origins=origins[2],
            began=time.perf_counter(),
            clearings=autograd_cache.clearings(),
        )
        self._known.put(compiler, capture)
        capture.keys = given.keys()
        return capture

    def node_called(self, compiler: Compiler, index: int, name: str) -> Capture:
        capture = self.of(compiler)
        graph = graph_of(compiler)
        capture.names[index] = name
        capture.node_calls.append(NodeCall(index, name, len(graph.nodes) if graph is not None else 0))
        return capture

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> LiftedHook:
        capture = self.of(compiler)
        current = capture.current
        lifted = LiftedHook(
            kind,
            None if kind == "cpp_tensor_pre_hook" else hook,
            current.index if current else 0,
            captured_graph.last_call(graph_of(compiler)),
        )
        capture.hooks.append(lifted)
        return lifted

    def moved(self, compiler: Compiler, positions: list[int]) -> None:
        self.of(compiler).moved_to_cuda = tuple(positions)

    def ends(self, compiler: Compiler, failed: bool) -> Capture:
        capture = self.of(compiler)
        capture.failed = failed
        capture.all_names = tuple(capture.names_by_index())
        if failed:
            self._failed.append(capture)
        capture.milliseconds = (time.perf_counter() - capture.began) * 1000
        return capture
