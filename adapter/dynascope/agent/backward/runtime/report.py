"""The report of one run of a backward under compiled autograd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class HookCall:
    """A hook in the captured graph: PyTorch's `kind`, its NodeCall and the user's function.

    `function`, `path` and `line` are None for hooks of C++, and for callables that are not written in Python.
    """

    kind: str
    node_call: int
    function: str | None = None
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceInputs:
    """Tensors of one device that were lifted into the graph's inputs."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class BackwardRun:
    """One backward. Times are in milliseconds of the host, but `device_ms` is GPU time."""

    number: int
    """The position among all backwards observed in this process, from 0."""
    compile_id: str
    """Dynamo's id of the captured graph, as `!0`, the same in every run that reuses it."""
    captured: bool
    """Whether the graph was captured for this run; else a cached one was used, or the capture failed."""
    reasons: tuple[str, ...]
    """Why it was captured, or why it could be reused."""
    node_calls: tuple[str, ...]
    """Names of the autograd nodes in the order of the engine; the position is the NodeCall's index."""
    hooks: tuple[HookCall, ...]
    inputs: Mapping[str, DeviceInputs]
    """By device (`cpu`, `cuda:0`), as the engine provided them, before scalars were moved."""
    moved_to_cuda: tuple[int, ...]
    """Positions of the CPU scalars that were pinned and copied to CUDA before the graph ran."""
    moved_bytes: int
    capture_ms: float | None
    """Time to trace the engine's nodes and compile them with `compiler_fn`; None for a reused graph."""
    prepare_ms: float
    """Time before the graph in every run: wrapping sizes, moving scalars."""
    graph_ms: float
    """Time of the graph, in its first runs with its compile if `compiler_fn` is lazy, as `torch.compile` is."""
    error: str | None = None
    """The error that the backward raised, in one line."""
    capture_failed: bool = False
    """Whether the capture failed, so that nothing ran and the nodes are those called before."""
    events: Any = field(default=None, repr=False, compare=False)
    """A pair of `torch.cuda.Event` around the graph, when it has CUDA inputs."""

    @property
    def bytes(self) -> int:
        """Return the size of all inputs together, in bytes."""
        return sum(each.bytes for each in self.inputs.values())

    @property
    def device_ms(self) -> float | None:
        """Return the GPU's time for the graph on the current stream, after waiting for it, or None.

        None means that there are no CUDA inputs.
        """
        if self.events is None:
            return None
        begin, end = self.events
        end.synchronize()
        return float(begin.elapsed_time(end))

    def __str__(self) -> str:
        """Return a few lines of text for the user."""
        how = "captured as" if self.captured else "could not capture" if self.capture_failed else "reused"
        nodes, hooks = _count(len(self.node_calls), "node"), _count(len(self.hooks), "hook")
        lines = [f"backward {self.number}: {how} graph {self.compile_id}, {nodes}, {hooks}"]
        lines += [f"  {reason}" for reason in self.reasons]
        if self.captured or self.capture_failed:  # else they were reported when it was captured
            lines += [f"  {text}" for text in _hook_texts(self.hooks)]
        lines += [
            f"  {device}: {_count(each.count, 'input')}, {_count(each.bytes, 'byte')}"
            for device, each in self.inputs.items()
        ]
        if self.moved_to_cuda:
            where = ", ".join(f"inputs[{i}]" for i in self.moved_to_cuda)
            lines.append(f"  moved to CUDA: {where} ({self.moved_bytes} bytes, pinned)")
        times = [] if self.capture_failed else [f"prepare {self.prepare_ms:.2f} ms", f"graph {self.graph_ms:.2f} ms"]
        if self.capture_ms is not None:
            times.insert(0, f"capture {self.capture_ms:.2f} ms")
        lines.append("  " + ", ".join(times))
        if self.error is not None:
            lines.append(f"  raised {self.error}")
        return "\n".join(lines)


def _hook_texts(hooks: Sequence[HookCall]) -> list[str]:
    """Return a line for each function, as `post_hook of NodeCall 3: check (train.py:12)`."""
    nodes: dict[str, list[str]] = {}
    for hook in hooks:
        place = f" ({hook.path}:{hook.line})" if hook.path is not None else ""
        function = hook.function or ("function not known" if hook.kind != "cpp_tensor_pre_hook" else "written in C++")
        nodes.setdefault(f"{hook.kind} of NodeCall {{}}: {function}{place}", []).append(str(hook.node_call))
    return [text.replace("{}", ", ".join(calls), 1) for text, calls in nodes.items()]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
