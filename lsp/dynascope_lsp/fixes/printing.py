"""Let Dynamo run `print` after the graph where the output stays the same.

The option applies to the whole program: every traced `print` must print the same then. Dynamo drops those in functions
that it traces inline, ignores `sep`, `end` and `file`, and prints a tensor as it is after the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.fixes.effects import is_new, is_only_read, is_pure, loads, may_write, mutates
from dynascope_lsp.fixes.fix import Fix, Refused, setting, with_trial
from dynascope_lsp.fixes.inference import Inference, Types
from dynascope_lsp.fixes.place import check_loop, is_inline, place_of
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

OPTION = "reorderable_logging_functions.add(print)"
_TITLE = "Let Dynamo run print() after the graph: {}"
BROKE = "builtin operator `print`"
WHAT_TO_DO = "print outside of the compiled function, or only `if not torch.compiler.is_compiling()`."
INLINE = f"Dynamo drops what functions print that it traces inline: {WHAT_TO_DO}"


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    if BROKE not in finding.explanation:
        return
    try:
        _check_program(snapshot, finding)
    except Refused as problem:
        raise with_trial(problem, snapshot, finding, OPTION, _TITLE) from None
    yield setting(snapshot.text, OPTION, _TITLE)


def _check_program(snapshot: Snapshot, finding: Finding) -> None:
    """Raise Refused unless everything that the program prints in compiled code can wait."""
    place = place_of(snapshot, finding)
    if not any(_is_print(each) for each in place.index.calls.get(finding.line, ())):
        raise Refused(f"The `print` is in a function that is called here: {WHAT_TO_DO}")
    check_loop(place, ("print",))
    files = program_files(snapshot)
    if files is None:
        raise Refused(f"The program has too many files to see what else it prints: {WHAT_TO_DO}")
    for each in files:
        _check(each, finding.line if each is snapshot else 0)


def _check(snapshot: Snapshot, line: int) -> None:
    """Raise Refused if a traced `print` of a file would print something else after the graph.

    `line` is the one that the advice is for; a `print` elsewhere is named.
    """
    index = snapshot.text.index
    if snapshot.text.tree is None or snapshot.facts is None or snapshot.placement is None:
        return
    breaks = snapshot.facts.distinct("graph_breaks")
    if any(is_inline(snapshot, each) for each in breaks if BROKE in each.fact.explanation):
        raise Refused(INLINE)
    compiled, inline = set[int | None](), set[int | None]()
    for traced in snapshot.facts.calls:
        (compiled if traced.parent is None else inline).add(snapshot.placement.line(traced.first_line))
    for calls in index.calls.values():
        for call in filter(_is_print, calls):
            function = index.function_at(call.lineno)
            if function is None or function.first_line not in compiled | inline:
                continue
            if function.first_line in inline:
                raise Refused(INLINE)
            try:
                _check_arguments(snapshot, function, call)
            except Refused as problem:
                where = f"The setting is for each `print`. That of {Path(snapshot.path).name}:{call.lineno}: "
                raise Refused(f"{where if call.lineno != line else ''}{problem}") from None


def _check_arguments(snapshot: Snapshot, function: Function, call: ast.Call) -> None:
    if call.keywords:
        raise Refused(f"Dynamo leaves out `sep`, `end` and `file` of what it prints later: {WHAT_TO_DO}")
    index = snapshot.text.index
    statement = index.statement_of(call)
    assert statement is not None
    types = Types(snapshot, function)
    inference = Inference(index, lambda name: types.before(name, statement))
    for each in call.args:
        parts = each.values if isinstance(each, ast.JoinedStr) else [each]
        for part in parts:
            value = part.value if isinstance(part, ast.FormattedValue) else part
            if isinstance(value, ast.Constant):
                continue
            if inference.tensor(value) is None or not is_pure(index, function, value):
                raise Refused(
                    f"`{ast.unparse(value)}` is not known to be a tensor, and only tensors can wait: {WHAT_TO_DO}"
                )
            if isinstance(value, ast.Name) and not _stays(index, function, types, value.id):
                raise Refused(f"`{value.id}` may be written to before it would be printed: {WHAT_TO_DO}")


def _stays(index: Index, function: Function, types: Types, name: str) -> bool:
    """Whether a tensor stays as it is until the function has returned."""
    if not may_write(index, function, types):
        return True
    used = (each for each in loads(function, name) if not isinstance(index.parents[each], ast.Return))
    return (
        not mutates(function.node, types)
        and is_new(index, function, name)
        and all(is_only_read(index, function, each) for each in used)
    )


def _is_print(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"
