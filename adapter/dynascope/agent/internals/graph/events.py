"""Report the graphs that Dynamo has traced and is about to pass to the backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events


class GraphHook(Events):
    """Call `graph_done` with each finished `GraphModule`, on the compiling thread.

    `OutputGraph.compile_and_call_fx_graph` formats the graph just before it calls the backend: no frame of the debugger
    is on the stack while the backend works.
    """

    def __init__(self, graph_done: Callable[[Any], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_before(torch_names.LAZY_FORMAT_GRAPH_CODE, lambda name, gm, *args, **kwargs: graph_done(gm))
