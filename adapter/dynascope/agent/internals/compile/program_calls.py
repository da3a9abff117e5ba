"""Report the calls in which Dynamo runs Python of the program while it compiles: backends, fake kernels, operators."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.compile.called_files import files_of, files_of_arguments
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.torch_names import TorchName
from dynascope.agent.internals.wrapping import Events
from dynascope.agent.program.tracebacks import hidden_frame

_PASSES = (
    *("pre_grad_custom_pass", "joint_custom_pre_pass", "joint_custom_post_pass", "custom_partitioner_fn"),
    *("post_grad_custom_pre_pass", "post_grad_custom_post_pass", "_pre_fusion_custom_pass", "_post_fusion_custom_pass"),
)
"""The names in `torch._inductor.config` (2.11) under which a program's functions are kept."""


class ProgramCalls(Events):
    """Call `begins` before and `ends` after each call."""

    def __init__(
        self, begins: Callable[[Iterable[str]], Any], ends: Callable[[Any], None], failures: HookFailures
    ) -> None:
        """Call `begins(files of the called functions)`, and `ends` with what `begins` returned."""
        super().__init__(failures)
        self._begins, self._ends = begins, ends
        self._call_around(torch_names.CALL_USER_COMPILER, _files_of_backend)
        self._call_around(torch_names.CALL_FAKE_KERNEL, lambda kernel, *args, **kwargs: files_of(kernel.func))
        self._call_around(torch_names.RUN_NODE, _files_of_node)

    def _call_around(self, name: TorchName, files: Callable[..., Iterable[str]]) -> None:
        original, body = self.original(name), self.failures

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            token = None
            with body:
                token = self._begins(files(*args, **kwargs))
            try:
                with hidden_frame:
                    return original(*args, **kwargs)
            finally:
                if token is not None:
                    with body:
                        self._ends(token)

        self.put(name, wrapper)


def _files_of_node(tracer: Any, node: Any, args: Any, kwargs: Any, module: Any) -> Iterator[str]:
    """Yield the files of an operator (`allow_in_graph`), its arguments' classes and functions.

    A function of `nonstrict_trace` is an argument, kept in `OutputGraph.nn_modules` (2.0).
    """
    yield from files_of(node.target)
    for each in node.all_input_nodes:
        if each.op == "get_attr":
            yield from files_of(tracer.nn_modules.get(each.target))
    yield from files_of_arguments((args, *kwargs.values()))


def _files_of_backend(output: Any, module: Any, *args: Any, **kwargs: Any) -> Iterator[str]:
    """Yield the files of a backend, of its passes and lowerings, and of what the graph calls.

    `torch._inductor.config` (2.0), `torch._inductor.lowering.lowerings` (2.0).
    """
    yield from files_of(output.compiler_fn)
    nodes = list(module.graph.nodes)
    yield from files_of_arguments(node.meta.get("example_value") for node in nodes if node.op == "placeholder")
    for node in nodes:
        if node.op == "get_attr":
            yield from files_of(inspect.getattr_static(module, node.target, None))
    config: Any = sys.modules.get("torch._inductor.config")
    lowering: Any = sys.modules.get("torch._inductor.lowering")
    called = {node.target for node in nodes if node.op == "call_function"}
    passes = [getattr(config, name, None) for name in _PASSES]
    for each in (*called, *passes, *(() if lowering is None else lowering.lowerings.values())):
        yield from files_of(each)
