"""The agent's exception filters, and one that a client has switched on."""

from __future__ import annotations

from typing import Literal, NamedTuple

from dynascope.wire.dap import DapStruct

FilterId = Literal[
    "graphBreak", "recompile", "recompileLimit", "specialization", "backendFailure", "skippedFrame", "codegen"
]
"""The agent's filters; all others are debugpy's."""


class CompilerFilter(NamedTuple):
    """The texts that a client shows for one of the agent's filters."""

    noun: str
    """As in "Paused on graph break"."""
    label: str
    description: str
    takes_registry_ids: bool = False
    """Whether a condition may contain ids of PyTorch's registry of graph breaks."""


FILTERS: dict[FilterId, CompilerFilter] = {
    "graphBreak": CompilerFilter(
        "graph break",
        "Graph Breaks",
        "Stop where Dynamo breaks a graph, gives a function up, or (fullgraph=True) raises; "
        "the frames that led to it are still there.",
        takes_registry_ids=True,
    ),
    "recompile": CompilerFilter(
        "recompile", "Recompiles", "Stop at the first line of a compile that happens because a guard failed."
    ),
    "recompileLimit": CompilerFilter(
        "recompile limit",
        "Recompile Limit",
        "Stop when a function has been compiled too often and is not compiled again.",
    ),
    "specialization": CompilerFilter(
        "specialization", "Specializations", "Stop where a dynamic size or number is fixed to the value it has."
    ),
    "backendFailure": CompilerFilter(
        "backend failure", "Backend Failures", "Stop where the backend has failed on a graph."
    ),
    "skippedFrame": CompilerFilter(
        "skipped frame", "Skipped Frames", "Stop where Dynamo decides to run a function uncompiled."
    ),
    "codegen": CompilerFilter(
        "code generation",
        "Code Generation",
        "Stop where a graph has ended, at a graph break or the return, and the bytecode around it is "
        "generated: what is restored, and how.",
        takes_registry_ids=True,
    ),
}
"""The agent's filters in the order in which clients list them."""


class ExceptionFilter(DapStruct):
    """A filter that is switched on, with the `id` of its breakpoint; a `condition` of None is always true."""

    id: int
    filter_id: FilterId
    condition: str | None = None
