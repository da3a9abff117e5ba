"""What a compile leaves behind: graphs, guards, bytecode, counters, outputs and random states, as comparable text."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import dis
import io
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo
from dynascope.agent.events.wrapping import is_unobserved
from torch._dynamo import convert_frame, guards, output_graph
from torch._dynamo.utils import counters

from tests.support.nonperturbation.programs import Program


@dataclasses.dataclass
class Traces:
    """Two runs of the same program are equal when these are."""

    graphs: list[str] = dataclasses.field(default_factory=list)
    code: list[str] = dataclasses.field(default_factory=list)
    guards: list[str] = dataclasses.field(default_factory=list)
    bytecode: list[str] = dataclasses.field(default_factory=list)
    counters: str = ""
    output: str = ""
    random_states: str = ""

    def differences(self, other: Traces) -> list[str]:
        """Names of the fields that differ."""
        return [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != getattr(other, f.name)]


def run(
    program: Program,
    observer: contextlib.AbstractContextManager[Any],
    compile_graph: Callable[[Any, Any], Any] = lambda module, inputs: module.forward,
    noting: Callable[[Traces], contextlib.AbstractContextManager[Any]] = lambda traces: contextlib.nullcontext(),
) -> Traces:
    """Compile and call the program once, from a clean start, while `observer` is entered.

    `compile_graph` compiles each graph, while `noting` adds to the traces.
    """
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    random.seed(0)
    traces = Traces()
    function, arguments, keywords = copy.deepcopy((program.function, program.arguments, program.keywords))

    def backend(module: Any, inputs: Any) -> Any:
        traces.graphs.append(_normal(module.print_readable(print_output=False)))
        traces.code.append(_normal(module.code))
        return compile_graph(module, inputs)

    with guards_and_bytecode(traces), noting(traces), observer, contextlib.redirect_stdout(io.StringIO()):
        try:
            output: Any = torch.compile(function, backend=backend, **program.options)(*arguments, **keywords)
        except Exception as error:  # some examples are there because they do not compile: they must fail alike
            output = f"{type(error).__name__}: {error}".partition("\n")[0]
    traces.counters = _normal(repr({name: dict(counted) for name, counted in sorted(counters.items())}))
    traces.output = _output_text((output, arguments, keywords))
    traces.random_states = str(hash((torch.get_rng_state().numpy().tobytes(), random.getstate())))
    return traces


@contextlib.contextmanager
def guards_and_bytecode(traces: Traces) -> Iterator[None]:
    """Note the guards and the bytecode of each compile."""
    original = guards.CheckFunctionManager.__init__

    def init(self: Any, f_code: Any, output_graph: Any, *args: Any, **kwargs: Any) -> None:
        original(self, f_code, output_graph, *args, **kwargs)
        if is_unobserved():
            return
        environment = output_graph.shape_env
        traces.guards += [
            _normal(str(self.guard_manager)),
            _normal("\n".join(sorted(map(_guard_text, output_graph.guards)))),
            _normal("\n".join(f"{guard.expr} {guard.size_oblivious}" for guard in environment.guards)),
            _normal(repr([(str(symbol), str(span)) for symbol, span in environment.var_to_range.items()])),
            _normal(repr([(str(a), str(b)) for a, b in environment.replacements.items()])),
        ]

    def note(before: Any, after: Any) -> None:
        for code in (before, after):
            traces.bytecode.append(_normal(f"{code.co_name}\n{dis.Bytecode(code).dis()}\n{code.co_consts}"))

    hook = convert_frame.register_bytecode_hook(note)
    guards.CheckFunctionManager.__init__ = init
    try:
        yield
    finally:
        guards.CheckFunctionManager.__init__ = original
        hook.remove()


@contextlib.contextmanager
def graphs(traces: Traces) -> Iterator[None]:
    """Note each graph that Dynamo gives to a backend, whichever it is."""
    original = output_graph.OutputGraph.call_user_compiler

    def call_user_compiler(self: Any, module: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_unobserved():
            traces.graphs.append(_normal(module.print_readable(print_output=False)))
        return original(self, module, *args, **kwargs)

    output_graph.OutputGraph.call_user_compiler = call_user_compiler
    try:
        yield
    finally:
        output_graph.OutputGraph.call_user_compiler = original


def _guard_text(guard: Any) -> str:
    stack = guard.user_stack or ()
    code = sorted(set(guard.code_list or ()))  # grows from compile to compile on guards that Dynamo keeps for all
    return f"{guard.name} {guard.create_fn_name()} {code} {[(f.name, f.lineno) for f in stack]}"


def _output_text(output: Any) -> str:
    leaves = torch.utils._pytree.tree_leaves(output)
    return _normal("\n".join(_leaf_text(leaf) for leaf in leaves))


def _leaf_text(leaf: Any) -> str:
    if isinstance(leaf, torch.Tensor):
        return f"{leaf.dtype}{tuple(leaf.shape)} {leaf.detach().flatten().tolist()}"
    content = vars(leaf) if hasattr(leaf, "__dict__") and not isinstance(leaf, (type, torch.nn.Module)) else None
    return f"{type(leaf).__name__} {_output_text(content)}" if content else repr(leaf)


_CHANGING = (
    (re.compile(r"0x[0-9a-f]+"), "0xH"),
    (re.compile(r"\b\d{10,}\b"), "ID"),
    (re.compile(r"_\d{9,}_c\d+"), "_ID"),
    (re.compile(r"__compiled_fn_\d+(_[0-9a-f_]+)?"), "__compiled_fn"),
    (re.compile(r"\b(__[A-Za-z]\w*?|_+stack|torch_dynamo_resume_in_\w+?_at)_?\d+\b"), r"\1_N"),
)
"""Ids, addresses and the process's running numbers: they differ from run to run without any debugger."""


def _normal(text: str) -> str:
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text
