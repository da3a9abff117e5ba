"""Report the graphs of a compile: their nodes, what the backend gets, and what AOTAutograd and Inductor make of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.named_forms import Kernels, NamedForms
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt, compile_id_of_cuda_graph
from dynascope.agent.internals.graph.saved_values import Division, Partition
from dynascope.agent.internals.weak_keys import WeakKeys

_Partitions = dict[int, Partition]
"""The latest min cut of each thread whose graphs have not been logged yet."""


class NodeEvents(Events):
    """Call `entered` with each node that enters a graph which Dynamo builds, before its operator has run on fakes."""

    def __init__(self, entered: Callable[[Any], None], failures: HookFailures) -> None:
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


class MinCuts(Events):
    """Note the nodes that a min cut forbids the backward to compute again."""

    def __init__(self, partitions: _Partitions, failures: HookFailures) -> None:
        super().__init__(failures)

        def solved(result: Any, *args: Any, **kwargs: Any) -> None:
            known = partitions.get(threading.get_ident())
            banned = {node.name for node in result[1]}
            partitions[threading.get_ident()] = Partition(banned, is_first=known is None)

        self.call_after(torch_names.SOLVE_MIN_CUT, solved)


class AotGraphs(Events):
    """Report the graphs of AOTAutograd, where it logs them."""

    def __init__(self, observer: NamedForms, partitions: _Partitions, failures: HookFailures) -> None:
        super().__init__(failures)
        made = observer.graph_made
        self.call_before(torch_names.LOG_JOINT_GRAPH, lambda graph, *args, **kwargs: made("joint", graph))
        self.call_before(torch_names.LOG_INFERENCE_GRAPH, lambda graph, *args, **kwargs: made("inference", graph))

        def both(forward: Any, backward: Any, maybe_subclass_meta: Any, fw_metadata: Any, aot_config: Any) -> None:
            made("forward", forward)
            made("backward", backward)
            sources = vars(aot_config).get("aot_autograd_arg_pos_to_source") or ()
            partition = partitions.pop(threading.get_ident(), None)
            observer.divided(Division(forward, backward, sources, partition))

        self.call_before(torch_names.LOG_FW_BW_GRAPHS, both)


class AotCache(Events):
    """Report what AOTAutograd has found in its cache."""

    def __init__(self, observer: NamedForms, failures: HookFailures) -> None:
        super().__init__(failures)

        def found(result: Any, key: str, *args: Any, **kwargs: Any) -> None:
            if result is not None:
                observer.graphs_cached(key, vars(result[0]).get("compiled_bw") is not None)

        self.call_after(torch_names.AOT_LOOKUP, found)
        self.call_on_error(torch_names.AOT_CACHE_KEY, lambda error: observer.graphs_not_cached(str(error)))


class InductorCache(Events):
    """Report what Inductor has found in its cache, and what not."""

    def __init__(self, observer: NamedForms, failures: HookFailures) -> None:
        super().__init__(failures)

        def loaded(result: Any, key: str, *args: Any, **kwargs: Any) -> None:
            found = result[0]
            is_backward = kwargs["is_backward"] if "is_backward" in kwargs else args[4]
            if found is None:
                observer.code_missed(kwargs["debug_lines"] if "debug_lines" in kwargs else args[0], is_backward)
            else:
                observer.code_cached(found.source_code, found.inductor_post_grad_graph_str, key, is_backward)

        def prepared(result: Any, gm: Any, example_inputs: Any, fx_kwargs: Any, *args: Any, **kwargs: Any) -> None:
            key, info = result
            if key is None:
                observer.code_not_cached(info["cache_bypass_reason"], fx_kwargs.get("is_backward", False))

        self.call_after(torch_names.LOAD_WITH_KEY, loaded)
        self.call_after(torch_names.PREPARE_KEY, prepared)


class _KernelNames:
    """The kernels of each graph that Inductor is lowering, with the stacks they are from."""

    def __init__(self) -> None:
        self._by_graph: WeakKeys[Any, dict[str, list[list[str]]]] = WeakKeys()

    def defined(self, name: str, scheduling: Any, source: str, nodes: Iterable[Any], *args: Any, **more: Any) -> None:
        """Note a kernel (`torch._inductor.virtualized.V.graph`, 2.11)."""
        lowering = _lowering()
        while getattr(lowering, "parent", None) is not None:  # a branch of `torch.cond`
            lowering = lowering.parent
        kernels = self._by_graph.get(lowering)
        if kernels is None:
            kernels = self._by_graph.put(lowering, {})
        kernels.setdefault(name, []).append(_stacks(node for each in nodes for node in _origins(each)))

    def of(self, lowering: Any) -> dict[str, list[list[str]]]:
        return self._by_graph.get(lowering) or {}


class KernelEvents(Events):
    """Note the kernels that one of Inductor's backends defines."""

    def __init__(self, name: TorchName, kernels: _KernelNames, failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_after(name, kernels.defined)


class OutputCode(Events):
    """Report output code through the callback that `GraphLowering` has for it."""

    def __init__(self, observer: NamedForms, kernels: _KernelNames, failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_before(torch_names.SAVE_OUTPUT_CODE, lambda code: self._tell(code, observer, kernels))

    @staticmethod
    def _tell(code: str, observer: NamedForms, kernels: _KernelNames) -> None:
        lowering = _lowering()
        known = getattr(lowering, "name_to_buffer", None)
        if known is not None:  # else the code is from a cache
            buffers = {name: _stacks(_own_origins(each)) for name, each in known.items()}
            told = Kernels(kernels.of(lowering), buffers)
            observer.code_made(code, told, lowering.module, bool(lowering.is_backward))


class SkippedCudaGraphs(Events):
    """Call `skipped` where Inductor is to run a graph without CUDA graphs.

    It gets the id of the compile, also where the graph is about to run, and torch's text: the reason, and the stack of
    the line that is to blame, where torch knows it.
    """

    def __init__(self, name: TorchName, skipped: Callable[[str, str], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def logs(msg: str) -> None:
            compile_id, _ = compile_id_and_attempt()
            known = compile_id_of_cuda_graph() if compile_id == "?" else compile_id
            if known is not None:
                skipped(known, msg)

        self.call_before(name, logs)


def hooks(observer: NamedForms, failures: HookFailures) -> list[Events]:
    """Return the subscriptions to the later forms of graphs."""
    kernels = _KernelNames()
    partitions: _Partitions = {}
    return [
        MinCuts(partitions, failures),
        AotGraphs(observer, partitions, failures),
        AotCache(observer, failures),
        InductorCache(observer, failures),
        OutputCode(observer, kernels, failures),
        KernelEvents(torch_names.DEFINE_CPP_KERNEL, kernels, failures),
        KernelEvents(torch_names.DEFINE_TRITON_KERNEL, kernels, failures),
    ]


def _lowering() -> Any:
    return sys.modules["torch._inductor.virtualized"].V.graph


def _origins(scheduled: Any) -> Iterator[Any]:
    """Yield the FX nodes of a buffer or a scheduled, fused node (`IRNode.origins`, 2.11)."""
    own = getattr(scheduled, "origins", None)
    if own is None:
        parts = getattr(scheduled, "snodes", None) or [getattr(scheduled, "node", None)]
        yield from (node for part in parts if part is not None for node in _origins(part))
    else:
        yield from own


def _own_origins(buffer: Any) -> Iterator[Any]:
    """Yield the node that a buffer stands for (`Buffer.origin_node`, 2.11), else its origins."""
    node = getattr(buffer, "origin_node", None)
    yield from _origins(buffer) if node is None else (node,)


def _stacks(nodes: Iterable[Any]) -> list[str]:
    """Return the different stacks of user code of FX nodes, in a stable order."""
    known = [(node, node.meta.get("stack_trace")) for node in dict.fromkeys(nodes)]
    return list(dict.fromkeys(stack for node, stack in sorted(known, key=lambda pair: pair[0]) if stack))
