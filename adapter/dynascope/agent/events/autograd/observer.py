"""Define the events of a captured backward: `compiled_autograd` calls an `Observer` as the backward runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.internals.autograd import cache_keys
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.autograd.cache_keys import NodeKey

Compiler = Any
"""An `AutogradCompilerInstance` of torch._dynamo.compiled_autograd: one capture."""


class Observer:
    """Called on the thread that runs the backward; it must not keep a tensor alive."""

    def capture_begins(self, compiler: Compiler, given: Given) -> None: ...

    def node_called(self, compiler: Compiler, index: int, name: str, function: Any) -> None: ...

    def hook_called(self, compiler: Compiler, kind: str, hook: int) -> None: ...

    def pass_begins(self, compiler: Compiler, name: str) -> None: ...

    def pass_ends(self, compiler: Compiler, name: str, result: Any) -> None: ...

    def graph_made(self, compiler: Compiler, module: Any) -> None: ...

    def capture_ends(self, compiler: Compiler, failed: bool) -> None: ...

    def run_begins(self, compiler: Compiler, given: RunGiven) -> None: ...

    def graph_begins(self, compiler: Compiler) -> None: ...

    def graph_ends(self, compiler: Compiler) -> None: ...

    def run_ends(self, compiler: Compiler, error: BaseException | None) -> None: ...


class Given:
    """The inputs of a capture: lists of fakes and symbols, and the NodeCall `(index, name)` each was lifted for."""

    __slots__ = ("_keys", "accumulates", "check_nans", "inputs", "origins", "reasons", "scalars", "sizes", "tensors")

    def __init__(
        self,
        inputs: Sequence[Any],
        tensors: Sequence[Any],
        sizes: Sequence[Any],
        scalars: Sequence[Any],
        origins: Sequence[Sequence[tuple[int, str]]],
        accumulates: bool,
        check_nans: bool,
        reasons: Sequence[str],
    ) -> None:
        """Keep the arguments; `tensors` are the real tensors of `inputs`.

        `origins` has one list each for inputs, sizes and scalars, empty where torch gave none. `reasons` are torch's
        texts of why no graph in the cache could be used; empty where they were not requested.
        """
        self.inputs, self.sizes, self.scalars, self.origins = inputs, sizes, scalars, origins
        self.accumulates, self.check_nans, self.reasons = accumulates, check_nans, reasons
        self.tensors = tensors
        self._keys: list[NodeKey] | None = None

    def keys(self) -> list[NodeKey]:
        """Return this backward's node keys; call it while the capture begins, on its thread."""
        if self._keys is None:
            call = autograd_nodes.backward_call()
            self._keys = cache_keys.keys_of(call, self.accumulates, self.tensors, self.origins[0])
        return self._keys


class RunGiven:
    """The arguments of one run of a captured backward: real tensors, numbers, and the hooks' functions."""

    __slots__ = ("hooks", "inputs", "scalars", "sizes")

    def __init__(
        self, inputs: Sequence[Any], sizes: Sequence[int], scalars: Sequence[Any], hooks: Sequence[Any]
    ) -> None:
        self.inputs, self.sizes, self.scalars, self.hooks = inputs, sizes, scalars, hooks
