"""Fix a recompile for a changed size: mark it dynamic at the calls, or pass `dynamic=True`.

Offered only where Dynamo itself made each changed size a symbol, after it had compiled for numbers: then one compile
serves all sizes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope.explain.sizes import COMPUTED
from lsprotocol import types

from dynascope_lsp.documents.edits import inserted_before
from dynascope_lsp.documents.syntax import Function
from dynascope_lsp.fixes.expressions.names import torch_name
from dynascope_lsp.fixes.fix import Advice, Fix, Refused
from dynascope_lsp.fixes.sites import Call, Site, calls, is_traced, sites
from dynascope_lsp.fixes.sizes import Sizes, other_tensors, sizes_of
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

_GIVEN = "`dynamic` is given where this is compiled: see whether it is meant so."
SIZE = re.compile(r"tensor '(?P<name>[^']+)' size mismatch at index (?P<dimension>\d+)")
Edits = dict[str, list[types.TextEdit]]
"""The edits of each file, by path."""


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix | Advice]:
    mismatch = SIZE.search(finding.guard or "")
    if mismatch is None or snapshot.text.index is None:
        return
    found: list[Fix | Advice] = []
    try:
        function = snapshot.text.index.function_at(finding.line)
        if function is None or finding.stale:
            raise Refused(finding.stale or "Only a function that has a name can be marked.")
        sizes = sizes_of(snapshot, function)
        if mismatch["name"] not in sizes.changed():
            raise Refused(f"`{mismatch['name']}` is made in the function, and cannot be marked.")
        compiled = sites(snapshot, function)
        for offer in (_marked, _dynamic):
            try:
                found.append(offer(snapshot, function, sizes, compiled))
            except Refused as problem:
                found.append(Advice(str(problem)))
    except Refused as problem:
        found.append(Advice(str(problem)))
    yield from [each for each in found if isinstance(each, Fix)] or found[:1]


def _marked(snapshot: Snapshot, function: Function, sizes: Sizes, compiled: list[Site]) -> Fix:
    """Insert `torch._dynamo.maybe_mark_dynamic` before calls: `mark_dynamic` could raise."""
    if sizes.has_rest:
        raise Refused(COMPUTED)
    if any(_option(site, "dynamic") for site in compiled):
        raise Refused(_GIVEN)
    called = calls(snapshot, function, compiled)
    if not called:
        raise Refused("Not every call of what was compiled is to be seen: pass `dynamic=True` to `torch.compile`.")
    edits: Edits = {}
    lines: list[str] = []
    for call in called:
        mark = f"{torch_name(call.snapshot.text.index)}._dynamo.maybe_mark_dynamic"
        changed = sizes.changed().items()
        marks = [f"{mark}({_argument(call, function, name)}, {_places(which)})" for name, which in changed]
        edits.setdefault(call.snapshot.path, []).append(inserted_before(call.snapshot.text, _statement(call), *marks))
        lines += [each for each in marks if each not in lines]
    more = " …" if len(lines) > 1 else ""
    return _fix(snapshot, f"Mark it dynamic before the call: {lines[0]}{more}", edits, preferred=True)


def _places(dimensions: list[int]) -> str:
    return str(dimensions[0]) if len(dimensions) == 1 else str(tuple(dimensions))


def _statement(call: Call) -> ast.stmt:
    """Return the statement of a call. Raises Refused where no line can be inserted before it."""
    index = call.snapshot.text.index
    assert index is not None
    node: ast.AST = call.node
    while not isinstance(node, ast.stmt):
        node = index.parents[node]
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.NamedExpr):
            raise Refused("The argument has no name before the call: pass `dynamic=True` to `torch.compile`.")
        if isinstance(node, ast.IfExp | ast.BoolOp):
            raise Refused("The call runs only under a condition: pass `dynamic=True` to `torch.compile`.")
    line = call.snapshot.text.line(node.lineno)
    alone = not line.encode()[: node.col_offset].strip()
    alone &= isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)
    if not alone or call.snapshot.text.line(node.lineno - 1).rstrip().endswith("\\"):
        raise Refused("The call has no line to itself: pass `dynamic=True` to `torch.compile`.")
    function = index.function_at(node.lineno)
    if function is not None and is_traced(call.snapshot, function):
        raise Refused("The call is in compiled code, where nothing can be marked.")
    return node


def _argument(call: Call, function: Function, parameter: str) -> str:
    """Return the name passed for a parameter. Raises Refused when it is not a plain name."""
    names = [each.arg for each in function.parameters if each.arg not in ("self", "cls")]
    given: dict[str, ast.expr] = dict(zip(names, call.node.args, strict=False))
    given |= {each.arg: each.value for each in call.node.keywords if each.arg is not None}
    value = given.get(parameter)
    starred = any(isinstance(each, ast.Starred) for each in call.node.args)
    if starred or not isinstance(value, ast.Name):
        raise Refused(f"What is passed for `{parameter}` has no name before the call: pass `dynamic=True`.")
    return value.id


def _dynamic(snapshot: Snapshot, function: Function, sizes: Sizes, compiled: list[Site]) -> Fix:
    """Pass `dynamic=True`, unless sizes are equal at first: Dynamo would give them one symbol."""
    if not compiled:
        raise Refused("Where this is compiled is not to be seen: pass `dynamic=True` to `torch.compile` there.")
    if sizes.are_shared() or other_tensors(snapshot, function, set(sizes.values)):
        raise Refused(
            "Sizes that are equal in the first call would be taken for the same: mark what changes, one by one."
        )
    edits: Edits = {}
    for site in compiled:
        if _option(site, "dynamic"):
            raise Refused(_GIVEN)
        text = site.snapshot.text
        end = text.range_of(site.node).end
        new = "(dynamic=True)"
        if isinstance(site.node, ast.Call):
            end = types.Position(end.line, end.character - 1)
            written = ast.get_source_segment(text.source, site.node) or ""
            comma = ", " if site.node.args or site.node.keywords else ""
            if written[:-1].rstrip().endswith(","):
                comma = " "
            new = f"{comma}dynamic=True"
        edits.setdefault(site.snapshot.path, []).append(types.TextEdit(types.Range(end, end), new))
    return _fix(snapshot, "Compile with dynamic=True", edits)


def _option(site: Site, name: str) -> bool:
    return isinstance(site.node, ast.Call) and any(each.arg in (name, None) for each in site.node.keywords)


def _fix(snapshot: Snapshot, title: str, edits: Edits, preferred: bool = False) -> Fix:
    here = edits.pop(snapshot.path, [])
    return Fix(title, here, preferred, edits)
