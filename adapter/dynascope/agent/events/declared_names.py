"""Declare names that are private to torch: what each is, and which features need it.

Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

IMPORTED_LATER: set[str] = set()
"""Modules that may be imported after `torch._dynamo`: their names are wrapped, and checked, when they are imported."""


def later(module: str) -> str:
    """Return the name of a module that is in `IMPORTED_LATER`."""
    IMPORTED_LATER.add(module)
    return module


Feature = NewType("Feature", str)
"""A feature that does not work where torch lacks a name; its text is the subject of a sentence."""
STOPS = Feature("compile-time stops")
RECORDING = Feature("recording")
DATA_BREAKPOINTS = Feature("data breakpoints")
NODE_BREAKPOINTS = Feature("function breakpoints on graph nodes")
RUN_MODE = Feature("breakpoints with mode `run`")
BACKWARD = Feature("stops in captured backwards")
TIME_TRAVEL = Feature("the warning of what going back repeats")
TIMELINE = Feature("events in the timeline")
WHAT_IF = Feature("`what if` at compile-time stops")
COMPTIME = Feature("`dynascope.comptime`, and stops at `comptime.breakpoint()`")
CALLED_FUNCTIONS = Feature("run-time stops in backends and fake kernels")
GRAPH_DOCUMENTS = Feature("compiled graphs as documents")
LATER_FORMS = Feature("what AOTAutograd and Inductor made of a graph")
SKIPPED_CUDA_GRAPHS = Feature("why CUDA graphs are skipped")
GUARD_FILTERS = Feature("what filters of guards would drop")
EVALUATION = Feature("the debug console")
GRAPH_BREAK = Feature("the exception filter `graphBreak`")
RECOMPILE = Feature("the exception filter `recompile`")
RECOMPILE_LIMIT = Feature("the exception filter `recompileLimit`")
SPECIALIZATION = Feature("the exception filter `specialization`")
BACKEND_FAILURE = Feature("the exception filter `backendFailure`")
SKIPPED_FRAME = Feature("the exception filter `skippedFrame`")
CODEGEN = Feature("the exception filter `codegen`")
NEVER_HIT = Feature("reasons of breakpoints in loaded code")
TIMEOUTS = Feature("longer time-outs of process groups")
RUN_TIME_COLLECTIVES = Feature("the comparison of collectives that ranks call uncompiled")


@dataclass(frozen=True)
class TorchName:
    """A private function, class or variable of torch.

    `parameters` are the names that its signature begins with: all of them, unless the last is `...`; None where none is
    passed. `since` is the first torch version that has it. Not every torch has one that `may_be_absent`. `member`: the
    function that is wrapped of one of Python's modules, of which torch gets a copy.
    """

    module: str
    name: str
    parameters: str | None
    since: str
    serves: tuple[Feature, ...]
    may_be_absent: bool = False
    member: str = ""

    def __str__(self) -> str:
        """Return `torch._dynamo.output_graph.OutputGraph.push_tx`, for example."""
        return f"{self.module}.{self.name}"


declared: list[TorchName] = []
"""All of them."""


def declare(
    module: str,
    name: str,
    parameters: str | None,
    since: str,
    *serves: Feature,
    may_be_absent: bool = False,
    member: str = "",
) -> TorchName:
    """Declare a name, see `TorchName`."""
    declaration = TorchName(module, name, parameters, since, serves, may_be_absent, member)
    declared.append(declaration)
    return declaration
