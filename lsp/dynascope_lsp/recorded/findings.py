"""A finding: one thing to say about one line, observed or predicted. Diagnostics, hovers and code actions show the same
ones."""

from __future__ import annotations

from dynascope.facts import model
from msgspec import Struct, field

from dynascope_lsp.settings import Kind

REGISTRY_PAGE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
"""PyTorch's page about one type of graph break."""


class Related(Struct, frozen=True):
    """A place that belongs to a finding; `line` is where it is now."""

    path: str
    line: int
    text: str


class Finding(Struct, kw_only=True, frozen=True):
    """Lines are those of now."""

    kind: Kind
    line: int
    columns: tuple[int, int] | None = None
    """Of the code it is about, in bytes; None: the whole line."""
    title: str
    """The first line of what is said: "Graph break: Data-dependent branching"."""
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    registry_id: str | None = None
    type: str = ""
    """The registry's name of a graph break."""
    compiles: list[str] = field(default_factory=list)
    """Ids of the compiles that met it."""
    programs: list[model.Run] = field(default_factory=list)
    """The programs that met it: the first process of the newest launch of each, newest first."""
    related: list[Related] = field(default_factory=list)
    stale: str | None = None
    """Why it may no longer hold: "`forward` has been edited since"."""
    guard: str | None = None
    """Of a recompile: the guard that failed."""
    function_line: int | None = None

    @property
    def predicted(self) -> bool:
        return self.kind == "predicted"

    @property
    def message(self) -> str:
        """All of it, as plain text."""
        times = f" ×{len(self.compiles)} compiles" if len(self.compiles) > 1 else ""
        parts = [self.title + times, self.explanation, *(f"Hint: {hint}" for hint in self.hints)]
        if self.stale:
            parts.append(f"Recorded earlier: {self.stale}.")
        return "\n".join(part for part in parts if part)


def registry_page(registry_id: str) -> str:
    """Address of the registry's page: `GB0170`."""
    return REGISTRY_PAGE.format(registry_id.lower())
