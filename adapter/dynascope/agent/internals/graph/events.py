"""The moment a graph is done: Dynamo has traced it and is about to call the backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class GraphHook:
    """Wraps `torch._dynamo.output_graph.lazy_format_graph_code` (2.1), which `compile_and_call_fx_graph` calls with the
    finished `GraphModule` just before the backend: no frame of ours is on the stack while the backend works."""

    def __init__(self, graph_done: Callable[[Any], None]) -> None:
        """`graph_done` is called with each GraphModule on the compiling thread; it may not raise."""
        from torch._dynamo import output_graph

        self._module: Any = output_graph
        original = self._original = self._module.lazy_format_graph_code

        def lazy_format_graph_code(name: Any, gm: Any, *args: Any, **kwargs: Any) -> Any:
            graph_done(gm)
            return original(name, gm, *args, **kwargs)

        self._ours = self._module.lazy_format_graph_code = lazy_format_graph_code

    def remove(self) -> None:
        """Put Dynamo's own back, unless somebody has wrapped ours since: it then goes on calling us in vain."""
        if self._module.lazy_format_graph_code is self._ours:
            self._module.lazy_format_graph_code = self._original
