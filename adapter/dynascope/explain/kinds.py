"""List the kinds of problems, each with all that writers, diagnostics and exception filters know of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, NamedTuple

from msgspec import Struct, structs

from dynascope.explain.details import callers
from dynascope.explain.divergences import difference_problem, divergence_problem
from dynascope.explain.failures import backend_failed, raised
from dynascope.explain.problem import (
    RECORDED,
    Identities,
    Place,
    Positions,
    Problem,
    at_lines,
    compiles_of,
    first_line,
    fitting,
    same_text,
)
from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from dynascope.facts.model import Fact, TracedFact
from dynascope.facts.recompiles.guarded_value import readable

Severity = Literal["error", "warning", "information"]
_CUDA_GRAPH_REMEDIES = {
    "mutated inputs": "Return the new value instead of writing into the argument, or call "
    "torch._dynamo.mark_static_address on the tensor, if it is the same one at each call.",
    "cpu device": "Move the tensor to the GPU before the call.",
    "multiple devices": "Keep all tensors of the graph on one GPU.",
}
"""The remedies by the beginning of torch's reason."""


def _not_of_one(fact: Fact) -> Problem:
    raise TypeError("A problem of this kind is made of more than one fact.")


class ProblemKind(Struct, frozen=True):
    """A kind of problems."""

    name: str
    heading: str
    """The heading of their section in reports and in the view."""
    severity: Severity
    """Also the severity of their diagnostics, unless the user's settings change it."""
    icon: str
    """A name of VS Code's icons."""
    section: str = ""
    """The name of the kind in whose section they are listed; "" for their own."""
    counted: str = ""
    """The noun for the count in their section (`3 places`); "" where the heading is enough."""
    noun: str = ""
    """The noun for one of them; "" for that of the exception filter of this name."""
    is_brief: bool = False
    """Whether there may be many of them with little to say: reports have a line for each."""
    setting: str = ""
    """The name of the kind whose setting applies to them; "" for their own."""
    about: str = ""
    """The description of their setting in VS Code."""
    facts: str = ""
    """The field of CompileFacts from which they are made alone; "" where it takes more than a fact and its line."""
    problem: Callable[[Any], Problem] = _not_of_one
    """Makes a problem from one of these facts; its `id` distinguishes it from others on the same line."""

    @property
    def diagnosed_as(self) -> str:
        """Return the name that their diagnostics have in settings."""
        return self.setting or self.name

    def problems(
        self, found: Iterable[Distinct[Any]], identities: Identities, positions: Positions = RECORDED
    ) -> list[Problem]:
        """Return a problem for each line and equal facts, the first one first."""

        def what(each: Distinct[Any]) -> Hashable:
            made = self.problem(each.fact)
            return made.id, made.cause, *map(same_text, made.details)

        problems = []
        for line, same in sorted(at_lines(found, positions, what), key=lambda group: min(compiles_of(group[1]))):
            fact = same[0].fact
            problem = self.problem(fact)
            problem.id = identities.of(self.name, problem.place, "", problem.id)
            problem.place = structs.replace(problem.place, line=line)
            problem.compiles, problem.count = compiles_of(same), len(same)
            problem.is_error = self.severity == "error"
            problem.notes = callers(fact) if isinstance(fact, TracedFact) else []
            problems.append(problem)
        return problems


def backend_failure(fact: model.BackendFailure) -> Problem:
    """Return the problem of a graph on which a backend raised an error."""
    cause, text = raised(fact), fact.message.strip()
    return Problem(
        id=cause,
        kind="backendFailure",
        cause=cause,
        title=backend_failed(fact),
        place=Place(fact.path, fact.line, fact.source),
        statement=text,
        details=[first_line(text)] if text else [],
    )


def cuda_graphs_skipped(fact: model.CudaGraphsSkipped) -> Problem:
    """Return the problem of a graph that Inductor runs without CUDA graphs."""
    return Problem(
        id=fact.reason.partition(" (")[0],  # what follows has names of graph inputs, and counts
        kind="cudaGraphsSkipped",
        cause=fact.reason,
        title=fitting(f"CUDA graphs skipped: {fact.reason}", "CUDA graphs skipped"),
        place=Place(fact.path, fact.line, fact.source),
        statement=fact.reason,
        remedies=[text for beginning, text in _CUDA_GRAPH_REMEDIES.items() if fact.reason.startswith(beginning)],
    )


def specialized(symbol: str, value: str, origins: Iterable[str]) -> str:
    """Say in one line that a line fixes a symbol; `origins` are its sources."""
    source = ", ".join(map(readable, origins))
    return fitting(
        f"Specialised: {symbol}{f' ({source})' if source else ''} is fixed to {value}",
        f"Specialised to {value}: {source or symbol}",
    )


def specialization(fact: model.Specialization) -> Problem:
    """Return the problem of a value that a line fixed."""
    origins = ", ".join(map(readable, fact.origins))
    return Problem(
        id=origins,
        kind="specialization",
        cause=f"{origins or fact.symbol} = {fact.value}{f', like {fact.beside}' if fact.beside else ''}",
        title=specialized(fact.symbol, fact.value, fact.origins),
        place=Place(fact.path, fact.line, fact.source),
        statement=fact.reason,
        details=[
            *([f"It meets {fact.beside}, which has this size."] if fact.beside else []),
            *([f"The backend, {fact.backend}, fixed it as it compiled the graph."] if fact.backend else []),
        ],
    )


KINDS = {
    kind.name: kind
    for kind in (
        ProblemKind(
            "failedCompile", "Failed compiles", "error", "error", noun="failed compile", setting="backendFailure"
        ),
        ProblemKind(
            "graphBreak", "Graph breaks", "warning", "warning", counted="place", about="Graph breaks of recorded runs."
        ),
        ProblemKind(
            "recompile",
            "Recompiles",
            "information",
            "sync",
            counted="cause",
            about="Recompiles, with the guard that failed.",
        ),
        ProblemKind(
            "recompileLimit",
            "Recompile limit reached",
            "warning",
            "warning",
            section="recompile",
            about="Functions that reached the recompile limit and now run uncompiled.",
        ),
        # a value that failed only compiles that were made again for another value
        ProblemKind(
            "alsoFailed",
            "Failed too",
            "information",
            "sync",
            section="recompile",
            noun="failed guard",
            setting="recompile",
        ),
        ProblemKind(
            "willRecompile",
            "Will be compiled again",
            "information",
            "history",
            counted="guard",
            noun="coming recompile",
            setting="recompile",
        ),
        ProblemKind(
            "backendFailure",
            "Backend failures",
            "error",
            "error",
            about="Failures of the backend.",
            facts="backend_failures",
            problem=backend_failure,
        ),
        ProblemKind(
            "divergence",
            "Ranks part",
            "error",
            "split-horizontal",
            about="Ranks of a job that do not call the same collectives.",
            facts="divergences",
            problem=divergence_problem,
        ),
        ProblemKind(
            "rankDifference",
            "Ranks differ",
            "information",
            "split-horizontal",
            noun="rank difference",
            about="Ranks of a job that compile a call in other ways, with the same collectives.",
            facts="rank_differences",
            problem=difference_problem,
        ),
        ProblemKind(
            "specialization",
            "Specialised",
            "information",
            "pin",
            is_brief=True,
            about="Dynamic sizes and numbers that became constants.",
            facts="specializations",
            problem=specialization,
        ),
        ProblemKind(
            "cudaGraphsSkipped",
            "Skipped CUDA graphs",
            "information",
            "circle-slash",
            noun="skipped CUDA graph",
            about="Graphs that Inductor runs without CUDA graphs although they are on, with torch's reason.",
            facts="cuda_graphs_skipped",
            problem=cuda_graphs_skipped,
        ),
        ProblemKind(
            "skippedFrame",
            "Functions left uncompiled",
            "information",
            "debug-step-over",
            is_brief=True,
            about="Functions that Dynamo skipped.",
        ),
    )
}
"""The kinds by name, in the order of their sections."""
SECTIONS = [kind for kind in KINDS.values() if not kind.section]
OF_LINES = [kind for kind in KINDS.values() if kind.facts]
"""The kinds that are made of single facts."""


class CompilerFilter(NamedTuple):
    """The texts that a client shows for one of the agent's exception filters."""

    noun: str
    """As in "Paused on graph break"."""
    label: str
    description: str
    takes_registry_ids: bool = False
    """Whether a condition may contain ids of PyTorch's registry of graph breaks."""


FILTERS = {
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
    "divergence": CompilerFilter(
        "rank divergence",
        "Divergences of Ranks",
        "Stop a rank of a job where it has compiled other collectives than other ranks, before it calls them.",
    ),
    "codegen": CompilerFilter(
        "code generation",
        "Code Generation",
        "Stop where a graph has ended, at a graph break or the return, and the bytecode around it is "
        "generated: what is restored, and how.",
        takes_registry_ids=True,
    ),
}
"""The agent's exception filters in the order in which clients list them: kinds at which it stops, and `codegen`."""


def noun_of(kind: str) -> str:
    """Return the noun for one problem of a kind."""
    return KINDS[kind].noun or FILTERS[kind].noun
