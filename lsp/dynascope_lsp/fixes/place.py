"""Find the statement of a finding, the facts recorded there, and what else breaks the graph in its loop."""

from __future__ import annotations

import ast

from dynascope.explain.details import in_same_loop
from dynascope.facts import model
from dynascope.facts.distinct import Distinct
from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import Inference, Types
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

NOT_RECORDED = (
    "Nothing has been recorded here yet. Run the program with `dynascope run`: fixes follow from what it did."
)

_READS = ("item", "tolist", "numpy", "backward")
_CONVERSIONS = ("float", "int", "bool")
_KNOWN = ("shape", "ndim", "dtype", "device", "dim", "size", "numel", "training", "is_cuda", "requires_grad")
"""What Dynamo knows of a tensor while it traces."""


class TracedStatement(Struct, frozen=True):
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
            for each in self.snapshot.facts.distinct("graph_breaks")
            if each.fact.type == self.finding.type and self.snapshot.placement.now(each.fact) == self.finding.line
        )

    def inference_before(self, statement: ast.stmt) -> Inference:
        """Return an Inference with the types that names have when a statement begins."""
        return Inference(self.index, lambda name: self.types.before(name, statement))


def is_inline(snapshot: Snapshot, broke: Distinct[model.GraphBreak]) -> bool:
    """Whether a break occurred while another function than its own was compiled."""
    assert snapshot.facts is not None and snapshot.placement is not None
    line = snapshot.placement.now(broke.fact)
    function = snapshot.text.index.function_at(line) if line is not None else None
    compiles = [snapshot.facts.compiles[number] for number in broke.compiles if number in snapshot.facts.compiles]
    own = {snapshot.placement.now(each) for each in compiles if each.path == snapshot.facts.path}
    return function is None or own != {function.first_line} or any(e.path != snapshot.facts.path for e in compiles)


def place_of(snapshot: Snapshot, finding: Finding) -> TracedStatement:
    """Return the place of a finding. Raises Refused if it is not recorded or was edited since."""
    if finding.predicted or snapshot.facts is None or snapshot.placement is None:
        raise Refused(NOT_RECORDED)
    index = snapshot.text.index
    function, statement = index.function_at(finding.line), index.statement_at(finding.line)
    if function is None or statement is None or statement is function.node:
        raise Refused("No statement of a function is here.")
    if finding.stale:
        raise Refused(f"{finding.stale[0].upper()}{finding.stale[1:]}: record the program again, then look for fixes.")
    return TracedStatement(snapshot, snapshot.text, index, function, statement, Types(snapshot, function), finding)


def is_in_loop(place: TracedStatement) -> bool:
    """Whether the statement is part of a loop of the function."""
    return _loop(place) is not place.function.node


def check_loop(place: TracedStatement, mended: tuple[str, ...] = ()) -> None:
    """Raise Refused if another statement of the loop breaks the graph.

    `mended`: calls that the fix mends, too.
    """
    loop = _loop(place)
    if loop is place.function.node:
        return
    for each in ast.walk(loop):
        if _breaks(place, each, mended) and place.index.statement_of(each) is not place.statement:
            raise Refused(in_same_loop(getattr(each, "lineno", 0)))


def _loop(place: TracedStatement) -> ast.AST:
    """Return the outermost loop around the statement; the function if there is none."""
    for each in ast.walk(place.function.node):
        if isinstance(each, ast.For | ast.While) and any(node is place.statement for node in ast.walk(each)):
            return each
    return place.function.node


def _breaks(place: TracedStatement, node: ast.AST, mended: tuple[str, ...]) -> bool:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return _reads_tensor(place, test)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _READS and name not in mended
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _CONVERSIONS:
            return name not in mended and _reads_tensor(place, argument)
        case ast.Call(func=ast.Name(id="print")):
            return "print" not in mended
    return False


def _reads_tensor(place: TracedStatement, node: ast.expr) -> bool:
    """Whether an expression depends on a tensor's values."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    return any(
        isinstance(each, ast.Name)
        and place.types.is_tensor_somewhere(each.id)
        and getattr(place.index.parents.get(each), "attr", None) not in _KNOWN
        for each in ast.walk(node)
    )
