"""Report captures of compiled autograd: a backward pass recorded as one graph, before Dynamo compiles it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

Captured = Callable[[str, int, float], None]
"""Called with the capture's id as Dynamo writes it (`!0`), the number of operations, and the seconds it took."""


class CaptureEvents(Events):
    """Call `captured` when a capture has made a graph; construct it once `COMPILED_AUTOGRAD` is imported."""

    def __init__(self, captured: Captured, now: Callable[[], float], failures: HookFailures) -> None:
        super().__init__(failures)
        began: dict[int, float] = {}

        def begins(compiler: Any, *args: Any, **kwargs: Any) -> None:
            began[id(compiler)] = now()

        def ends(_: Any, compiler: Any, *args: Any, **kwargs: Any) -> None:
            ended = now()
            graph = getattr(getattr(compiler, "fx_tracer", None), "graph", None)
            nodes = sum(node.op not in ("placeholder", "output", "get_attr") for node in graph.nodes) if graph else 0
            captured(f"!{getattr(compiler, 'id', '?')}", nodes, ended - began.pop(id(compiler), ended))

        self.call_before(torch_names.BEGIN_CAPTURE, begins)
        self.call_after(torch_names.END_CAPTURE, ends)
