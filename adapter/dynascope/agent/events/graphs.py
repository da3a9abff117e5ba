"""Report what enters the graphs that Dynamo builds, and each graph that it is about to pass to the backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events

Entered = Callable[[Any], None]
"""Called with the node, complete but for its example value: the operator has not been run on fakes yet."""


class NodeEvents(Events):
    """Call `entered` with each node that enters a graph which Dynamo builds."""

    def __init__(self, entered: Entered, failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_after(torch_names.CREATE_NODE, lambda node, *args, **kwargs: entered(node))


class GraphHook(Events):
    """Call `graph_done` with each finished `GraphModule`, on the compiling thread.

    `OutputGraph.compile_and_call_fx_graph` formats the graph just before it calls the backend: no frame of the debugger
    is on the stack while the backend works.
    """

    def __init__(self, graph_done: Callable[[Any], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_before(torch_names.LAZY_FORMAT_GRAPH_CODE, lambda name, gm, *args, **kwargs: graph_done(gm))
