"""Give a request a document's text, facts and settings, which do not change during it."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.file_facts import FactPositions, FileFacts
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.observed import Observations
from dynascope_lsp.settings import Settings


class Workspace(Protocol):
    """Provide what a document needs from the rest of the workspace."""

    def locate(self, path: str, line: int) -> int | None:
        """Return the present line of a recorded line; the same one for a file without facts."""

    def is_ours(self, path: str) -> bool:
        """Whether a file is one the user works on."""

    def predictions(self, path: str) -> list[Finding]:
        """Return the predicted findings of one file."""

    def snapshot_of(self, path: str) -> Snapshot | None:
        """Return the snapshot of another file; None for one that does not exist."""


class Snapshot:
    """Describe one document; `facts` and `placement` are None for a file that no run has traced."""

    def __init__(
        self, workspace: Workspace, uri: str, path: str, text: Text, settings: Settings, facts: FileFacts | None
    ) -> None:
        self.uri = uri
        self.path = path
        self.text = text
        self.settings = settings
        self.facts = facts
        self.placement = FactPositions(facts, text, trusted=facts.path != path) if facts else None
        self.workspace = workspace

    @cached_property
    def findings(self) -> list[Finding]:
        """Return observed and predicted findings by line; an observed break replaces predictions."""
        observed = self.observed
        seen = {each.line for each in observed if each.kind == "graphBreak"}
        expected = self.workspace.predictions(self.path) if self.settings.predictions else []
        if expected:
            seen |= self._traced_lines()  # there only observed breaks count
        predicted = [each for each in expected if each.line not in seen]
        return sorted([*observed, *predicted], key=lambda each: (each.line, each.predicted))

    @cached_property
    def observed(self) -> list[Finding]:
        if self.facts is None or self.placement is None:
            return []
        workspace = self.workspace
        return Observations(self.facts, self.placement, self.text, workspace.locate, workspace.is_ours).findings()

    def _traced_lines(self) -> set[int]:
        if self.facts is None or self.placement is None:
            return set()
        lines = {now for line in self.facts.seconds_by_line if (now := self.placement.line(line)) is not None}
        return {
            line
            for line in lines
            if (function := self.text.index.function_at(line)) is None
            or not self.placement.changed(function.first_line, function.last_line)
        }
