"""Where in the text a finding is, and what was recorded there: what every fix begins with."""

from __future__ import annotations

import ast

from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import Inference
from dynascope_lsp.fixes.tensor_type import Types
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

NOT_RECORDED = (
    "Nothing has been recorded here yet. Run the program with `dynascope run`: fixes follow from what it did."
)


class Place(Struct, frozen=True):
    """A statement in a function that was traced as it is now."""

    snapshot: Snapshot
    text: Text
    index: Index
    function: Function
    statement: ast.stmt
    types: Types
    finding: Finding

    @property
    def is_inline(self) -> bool:
        """Whether it broke while a function that calls this one was compiled."""
        assert self.snapshot.facts is not None and self.snapshot.placement is not None
        return any(
            is_inline(self.snapshot, each)
            for each in self.snapshot.facts.graph_breaks
            if each.fact.type == self.finding.type and self.snapshot.placement.now(each.fact) == self.finding.line
        )

    def inference_before(self, statement: ast.stmt) -> Inference:
        """With the types that names have when a statement begins."""
        return Inference(self.index, lambda name: self.types.before(name, statement))


def is_inline(snapshot: Snapshot, broke: Distinct[model.GraphBreak]) -> bool:
    """Whether a break came up while another function than its own was compiled."""
    assert snapshot.facts is not None and snapshot.placement is not None and snapshot.text.index is not None
    line = snapshot.placement.now(broke.fact)
    function = snapshot.text.index.function_at(line) if line is not None else None
    compiles = [snapshot.facts.compiles[number] for number in broke.compiles if number in snapshot.facts.compiles]
    own = {snapshot.placement.now(each) for each in compiles if each.path == snapshot.facts.path}
    return function is None or own != {function.first_line} or any(e.path != snapshot.facts.path for e in compiles)


def place_of(snapshot: Snapshot, finding: Finding) -> Place:
    """Raises Refused where nothing was recorded, or the function has been edited since."""
    index = snapshot.text.index
    if finding.predicted or snapshot.facts is None or snapshot.placement is None:
        raise Refused(NOT_RECORDED)
    function = index.function_at(finding.line) if index is not None else None
    statement = index.statement_at(finding.line) if index is not None else None
    if index is None or function is None or statement is None or statement is function.node:
        raise Refused("No statement of a function is here.")
    if finding.stale:
        raise Refused(f"{finding.stale[0].upper()}{finding.stale[1:]}: record the program again, then look for fixes.")
    return Place(snapshot, snapshot.text, index, function, statement, Types(snapshot, function), finding)
