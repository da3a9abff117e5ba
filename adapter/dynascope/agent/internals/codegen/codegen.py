"""Read the end of a graph: the values Dynamo restores around its call, and the bytecode (`codegen.PyCodegen`, 2.0)."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from dynascope.agent.internals.frames.frame_state import PRUNED
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.variables.variables import fields, without_lazy

PartKind = Literal["new objects", "hooks", "cells", "value", "side effects", "applied"]


@dataclass
class EndedFrame:
    """The values of one frame that live past the end; `stack` and `restored` are rebuilt, in this order."""

    translator: Translator
    stack: list[object]
    roles: list[str | None]
    """The consumer of each value of the stack."""
    restored: dict[str, object]
    unchanged: dict[str, object]
    """Arguments that still have their original value: they stay where they are."""
    cells: dict[str, object]
    """Cells shared with functions that the frame made or came from: the cells themselves are passed on."""
    pruned: dict[str, object]
    """Locals that nothing reads after the end."""

    def values(self) -> Iterator[tuple[str, object]]:
        """Yield the values that are rebuilt, by name: `[0] return value`, `y`."""
        for i, (variable, role) in enumerate(zip(self.stack, self.roles, strict=True)):
            yield f"[{i}] {role}" if role else f"[{i}]", variable
        yield from self.restored.items()


@dataclass
class Part:
    """Consecutive instructions, and the variable that they make or change; None where there is no single one."""

    kind: PartKind
    subject: object | None
    instructions: list[Any]


@dataclass
class ResumeFunction:
    """A function that continues after the break."""

    name: str
    code: types.CodeType
    arguments: tuple[str, ...]


@dataclass
class EndedGraph:
    """One ended graph, until the frame it ends in has been left. Frames are innermost first."""

    output: Any
    frames: list[EndedFrame] = field(default_factory=list)
    codegen: Any = None
    """The second pass; None where every value is an output of the graph, in order, and nothing else is restored."""
    uses: dict[object, int] | None = None
    """How often the first pass needed a variable or source."""
    marks: list[tuple[int, PartKind, object | None]] = field(default_factory=list)
    graph_name: str | None = None
    """The name of the compiled graph that is called."""
    call: list[Any] = field(default_factory=list)
    """The instructions that call it."""
    resumes: list[ResumeFunction] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Return `return_value` or the break's message (`OutputGraph.compile_subgraph_reason`, 2.0)."""
        return str(self.output.compile_subgraph_reason.reason)

    @property
    def is_break(self) -> bool:
        """Whether the function continues after the end (`GraphCompileReason.graph_break`, 2.0)."""
        return bool(self.output.compile_subgraph_reason.graph_break)

    @property
    def variable(self) -> str | None:
        """Return the name of the local with the outputs (`PyCodegen.graph_output_var`, 2.0)."""
        name: str | None = None if self.codegen is None else self.codegen.graph_output_var
        return name

    def outputs(self) -> list[object]:
        """Return the variables of the outputs by index (`PyCodegen.graph_outputs`, 2.0)."""
        if self.codegen is not None:
            entries = sorted(self.codegen.graph_outputs.values(), key=lambda entry: entry.index)
            return [entry.variable for entry in entries]
        return [variable for frame in self.frames for _, variable in frame.values()][::-1]

    @functools.cached_property
    def index_by_id(self) -> dict[int, int]:
        """Map id() of an output's variable and `proxy` (`TensorVariable.proxy`, 2.0) to its index."""
        found: dict[int, int] = {}
        for index, variable in enumerate(self.outputs()):
            seen, _ = without_lazy(variable)
            proxy = None if seen is None else fields(seen).get("proxy")
            for each in (variable, seen, proxy):
                if each is not None:
                    found.setdefault(id(each), index)
        return found

    def temporaries(self) -> dict[str, object]:
        """Return each variable or source by the local that stores it (`PyCodegen.tempvars`, 2.0)."""
        kept = {} if self.codegen is None else self.codegen.tempvars
        return {name: subject for subject, name in kept.items() if name is not None}

    def overridden(self) -> dict[object, object]:
        """Return the sources used for lists the graph empties (`PyCodegen.overridden_sources`, 2.7)."""
        return {} if self.codegen is None else dict(self.codegen.overridden_sources)

    def parts(self) -> list[Part]:
        """Return the parts of the second pass in the order of its code."""
        if self.codegen is None:
            return []
        made = self.codegen.get_instructions()
        stops = [position for position, _, _ in self.marks[1:]] + [len(made)]
        found = [
            Part(kind, subject, made[start:stop])
            for (start, kind, subject), stop in zip(self.marks, stops, strict=True)
        ]
        return [part for part in found if part.instructions]

    def replayed(self) -> list[Part]:
        """Return the generated code's changes to real objects, in the order of its preparations."""
        return [part for part in self.parts() if part.kind == "side effects" and part.subject is not None]

    def instructions(self) -> list[Any]:
        """Return the generated function so far (`OutputGraph.output_instructions`, 2.0)."""
        return list(self.output.output_instructions)


_told: dict[int, EndedGraph] = {}


def ending_of(output: Any) -> EndedGraph | None:
    """Return the end of this graph while it is being reported."""
    return _told.get(id(output))


@contextlib.contextmanager
def telling(ending: EndedGraph) -> Iterator[None]:
    """Let `ending_of` find it and the frames contain their unread locals while it is reported."""
    _told[id(ending.output)] = ending
    for frame in ending.frames:
        frame.translator.__dict__[PRUNED] = frame.pruned | frame.cells
    try:
        yield
    finally:
        del _told[id(ending.output)]
        for frame in ending.frames:
            frame.translator.__dict__.pop(PRUNED, None)
