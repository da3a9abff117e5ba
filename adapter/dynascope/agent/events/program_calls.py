"""Report the calls in which Dynamo runs Python of the program while it compiles: backends, fake kernels, operators."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile.call import code_of, code_of_arguments

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
        self._call_of(torch_names.CALL_USER_COMPILER, _code_of_backend)
        self._call_of(torch_names.CALL_FAKE_KERNEL, lambda kernel, *args, **kwargs: code_of(kernel.func))
        self._call_of(torch_names.RUN_NODE, code_of_node)

    def _call_of(self, name: TorchName, called: Callable[..., Iterable[CodeType]]) -> None:
        self.call_around(
            name,
            lambda *args, **kwargs: self._begins(code.co_filename for code in called(*args, **kwargs)),
            lambda token, result, error: self._ends(token) if token is not None else None,
        )


def code_of_node(tracer: Any, node: Any, args: Any, kwargs: Any, module: Any) -> Iterator[CodeType]:
    """Yield the code of an operator (`allow_in_graph`), its arguments' classes and functions.

    A function of `nonstrict_trace` is an argument, kept in `OutputGraph.nn_modules` (2.0).
    """
    yield from code_of(node.target)
    for each in node.all_input_nodes:
        if each.op == "get_attr":
            yield from code_of(_without_spec(tracer.nn_modules.get(each.target)))
    yield from code_of_arguments((args, *kwargs.values()))


def _without_spec(value: Any) -> Any:
    """Return the function that a `TreeSpec` (2.1) stands for.

    Up to 2.11 one of `nonstrict_trace` is in `flat_apply._ConstantFunction` (2.8), in a `_pytree.ConstantNode` (2.7).
    """
    pytree: Any = sys.modules["torch.utils._pytree"]
    if type(value) is not pytree.TreeSpec:
        return value
    constant = getattr(value._context, "value", None)  # its class has slots, no __dict__
    return getattr(constant, "func", None)


def _code_of_backend(output: Any, module: Any, *args: Any, **kwargs: Any) -> Iterator[CodeType]:
    """Yield the code of a backend, of its passes and lowerings, and of what the graph calls.

    `torch._inductor.config` (2.0), `torch._inductor.lowering.lowerings` (2.0).
    """
    yield from code_of(output.compiler_fn)
    nodes = list(module.graph.nodes)
    yield from code_of_arguments(node.meta.get("example_value") for node in nodes if node.op == "placeholder")
    for node in nodes:
        if node.op == "get_attr":
            yield from code_of(inspect.getattr_static(module, node.target, None))
    config: Any = sys.modules.get("torch._inductor.config")
    lowering: Any = sys.modules.get("torch._inductor.lowering")
    called = {node.target for node in nodes if node.op == "call_function"}
    passes = [getattr(config, name, None) for name in _PASSES]
    for each in (*called, *passes, *(() if lowering is None else lowering.lowerings.values())):
        yield from code_of(each)


Lines = tuple[str, int, int]
"""A file, and the first and last line of a function in it."""


class LoadEvents(Events):
    """Report what `name` has loaded: the functions compiled into it, if it says, and what it is for users."""

    def __init__(
        self,
        name: TorchName,
        what: str,
        loaded: Callable[[str, list[Lines]], object],
        failures: HookFailures,
    ) -> None:
        super().__init__(failures)
        self.call_after(name, lambda result, *args, **kwargs: loaded(what, list(_functions(result, *args))))


def load_events(loaded: Callable[[str, list[Lines]], object], failures: HookFailures) -> list[LoadEvents]:
    """Report each load to `loaded`, by those of the names that this torch has."""
    return [LoadEvents(name, what, loaded, failures) for name, what in torch_names.LOADS.items()]


def _functions(result: Any, *args: Any) -> Iterable[Lines]:
    """Yield the functions that were compiled into what is loaded, if it says.

    Reads `CompilePackage._source_info` (2.9) and `AOTCompiledFunction._artifacts.source_info` (2.9).
    """
    artifacts = getattr(result, "_artifacts", None)
    info = getattr(artifacts, "source_info", None) or next(
        (found for each in args if (found := getattr(each, "_source_info", None)) is not None), None
    )
    for source in getattr(info, "inlined_sources", ()):
        file = getattr(sys.modules.get(source.module), "__file__", None)
        if file is not None:
            yield file, source.firstlineno, source.lastlineno - 1
