"""Find the statement of a finding and the facts recorded there, which every fix needs."""

from __future__ import annotations

import ast

from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.expressions.inference import Inference
from dynascope_lsp.fixes.expressions.tensor_type import Types
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

NOT_RECORDED = (
    "Nothing has been recorded here yet. Run the program with `dynascope run`: fixes follow from what it did."
)


class Place(Struct, frozen=True):
    """A statement of a function that has not been edited since it was traced."""

    snapshot: Snapshot
    text: Text
    index: Index
    function: Function
    statement: ast.stmt
    types: Types
    finding: Finding

    @property
    def is_inline(self) -> bool:
        """Whether the break occurred while a caller of this function was compiled."""
        assert self.snapshot.facts is not None and self.snapshot.placement is not None
        return any(
            is_inline(self.snapshot, each)
            for each in self.snapshot.facts.graph_breaks
            if each.fact.type == self.finding.type and self.snapshot.placement.now(each.fact) == self.finding.line
        )

    def inference_before(self, statement: ast.stmt) -> Inference:
        """Return an Inference with the types that names have when a statement begins."""
        return Inference(self.index, lambda name: self.types.before(name, statement))


def is_inline(snapshot: Snapshot, broke: Distinct[model.GraphBreak]) -> bool:
    """Whether a break occurred while another function than its own was compiled."""
    assert snapshot.facts is not None and snapshot.placement is not None and snapshot.text.index is not None
    line = snapshot.placement.now(broke.fact)
    function = snapshot.text.index.function_at(line) if line is not None else None
    compiles = [snapshot.facts.compiles[number] for number in broke.compiles if number in snapshot.facts.compiles]
    own = {snapshot.placement.now(each) for each in compiles if each.path == snapshot.facts.path}
    return function is None or own != {function.first_line} or any(e.path != snapshot.facts.path for e in compiles)


def place_of(snapshot: Snapshot, finding: Finding) -> Place:
    """Return the place of a finding. Raises Refused if it is not recorded or was edited since."""
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
