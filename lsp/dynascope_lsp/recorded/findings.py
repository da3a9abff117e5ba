"""Define the findings about a line that diagnostics, hovers and code actions share."""

from __future__ import annotations

from dynascope.facts import model
from msgspec import Struct, field


class Related(Struct, frozen=True):
    """A place related to a finding; `line` is its present line."""

    path: str
    line: int
    text: str


class Finding(Struct, kw_only=True, frozen=True):
    """An observed or predicted finding; its lines are those of the present text."""

    kind: str
    line: int
    columns: tuple[int, int] | None = None
    """The columns of its code, in bytes; None for the whole line."""
    title: str
    """The first line of its message: "Graph break: Data-dependent branching"."""
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    registry_id: str | None = None
    type: str = ""
    """The registry's name for the type of a graph break."""
    compiles: list[str] = field(default_factory=list)
    """The ids of the compiles that met it."""
    programs: list[model.Run] = field(default_factory=list)
    """The programs that met it: the first process of the newest launch of each, newest first."""
    related: list[Related] = field(default_factory=list)
    stale: str | None = None
    """Why it may be out of date: "forward has been edited since"."""
    guard: str | None = None
    """The guard that failed, for a recompile."""
    function_line: int | None = None
    problem: str = ""
    """The id of the recorded problem, which is the same in the next run and in reports."""

    @property
    def predicted(self) -> bool:
        return self.kind == "predicted"

    @property
    def times(self) -> str:
        """Return how many compiles met it, if they are several."""
        return f" ×{len(self.compiles)} compiles" if len(self.compiles) > 1 else ""

    @property
    def message(self) -> str:
        """Return the whole finding as plain text."""
        parts = [self.title + self.times, self.explanation, *(f"Hint: {hint}" for hint in self.hints)]
        if self.stale:
            parts.append(f"Recorded earlier: {self.stale}.")
        return "\n".join(part for part in parts if part)
