"""Offer fixes for one finding, or advice where no fix is sure to be right."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.fixes import branches, dynamic, options, printing, scalars, statements
from dynascope_lsp.fixes.fix import Advice, Fix, Refused
from dynascope_lsp.fixes.inference import full_name
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

CAUGHT = (
    "With `fullgraph=True` this is an error, which the program may catch: without it the program would do something "
    "else. See whether the error is meant."
)
_CATCHES = frozenset(("Exception", "BaseException", "RuntimeError", "Unsupported", "UserError", "TorchDynamoException"))
_IN_WITH = frozenset(("suppress", "raises", "assertRaises", "assertRaisesRegex"))

KINDS = (statements.fixes, branches.fixes, scalars.fixes, printing.fixes, dynamic.fixes, options.fixes)


def is_caught(snapshot: Snapshot, finding: Finding) -> bool:
    """Whether a graph break was an error in a program that has a handler for such errors."""
    if snapshot.facts is None or snapshot.placement is None:
        return False
    raised = any(
        each.fact.effect == "raised" and snapshot.placement.now(each.fact) == finding.line
        for each in snapshot.facts.distinct("graph_breaks")
    )
    return raised and any(_catches(each) for each in program_files(snapshot) or [snapshot])


def _catches(snapshot: Snapshot) -> bool:
    index = snapshot.text.index
    for each in ast.walk(index.tree):
        match each:
            case ast.ExceptHandler(type=None):
                return True
            case ast.ExceptHandler(type=ast.Tuple(elts=caught)):
                pass
            case ast.ExceptHandler(type=ast.expr() as one):
                caught = [one]
            case ast.withitem(context_expr=ast.Call(func=function)):
                if ast.unparse(function).rpartition(".")[2] in _IN_WITH:
                    return True
                continue
            case _:
                continue
        names = ((full_name(index, one) or ast.unparse(one)).rpartition(".")[2] for one in caught)
        if not _CATCHES.isdisjoint(names):
            return True
    return False


def offered(snapshot: Snapshot, finding: Finding) -> Iterator[Fix | Advice]:
    """Yield the fixes and advice for a finding, each title once."""
    titles: set[str] = set()
    caught = is_caught(snapshot, finding)
    for kind in KINDS:
        try:
            offers: list[Fix | Advice] = list(kind(snapshot, finding))
        except Refused as problem:
            offers = [Advice(str(problem)), *([problem.to_try] if problem.to_try is not None else [])]
        for offer in offers:
            each = Advice(CAUGHT) if caught and isinstance(offer, Fix) else offer
            title = each.title if isinstance(each, Fix) else each.text
            if title not in titles:
                titles.add(title)
                yield each
