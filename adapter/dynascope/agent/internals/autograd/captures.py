"""Captures of compiled autograd: a backward pass recorded as one graph, before Dynamo compiles that."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals.module_names import COMPILED_AUTOGRAD

Captured = Callable[[str, int, float], None]
"""Called with the capture's id as Dynamo writes it (`!0`), the operations of its graph, and its seconds."""


class CaptureEvents:
    """Wraps `compiled_autograd.AutogradCompilerInstance.begin_capture` and `.end_capture` (2.1), once loaded."""

    def __init__(self, captured: Captured, now: Callable[[], float]) -> None:
        module: Any = sys.modules[COMPILED_AUTOGRAD]
        instance_class = module.AutogradCompilerInstance
        begin, end = instance_class.begin_capture, instance_class.end_capture
        began: dict[int, float] = {}

        def begin_capture(self: Any, *args: Any, **kwargs: Any) -> Any:
            began[id(self)] = now()
            return begin(self, *args, **kwargs)

        def end_capture(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = end(self, *args, **kwargs)
            ended = now()
            _tell(captured, self, ended - began.pop(id(self), ended))
            return result

        instance_class.begin_capture, instance_class.end_capture = begin_capture, end_capture
        self._wrapped = [
            (instance_class, "begin_capture", begin_capture, begin),
            (instance_class, "end_capture", end_capture, end),
        ]

    def remove(self) -> None:
        """Take the wrappers out; one that somebody else has wrapped since stays, and passes calls on."""
        for owner, name, wrapper, original in self._wrapped:
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)


def _tell(captured: Captured, instance: Any, seconds: float) -> None:
    try:
        graph = getattr(getattr(instance, "fx_tracer", None), "graph", None)
        nodes = sum(node.op not in ("placeholder", "output", "get_attr") for node in graph.nodes) if graph else 0
        captured(f"!{getattr(instance, 'id', '?')}", nodes, seconds)
    except Exception:
        pass  # the observer contains its own errors; these are of reading names
