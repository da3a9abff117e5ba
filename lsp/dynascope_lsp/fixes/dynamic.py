"""Fix a recompile for a changed size: mark it dynamic at the calls, or pass `dynamic=True`.

Offered only where Dynamo itself made each changed size a symbol, after it had compiled for numbers: then one compile
serves all sizes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope.explain.size_remedies import ASKS, BY_ITSELF, COMPUTED, FIXED, NUMBERS_TOO, STAYS_FIXED, WHAT_TO_DO
from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import guarded_value, sizes_seen
from dynascope.facts.recompiles.relations import asks_sizes, fits_numbers
from lsprotocol import types
from msgspec import Struct

from dynascope_lsp.documents.edits import inserted_before
from dynascope_lsp.documents.syntax import Function
from dynascope_lsp.fixes.fix import Fix, Refused, alternatives
from dynascope_lsp.fixes.inference import torch_name
from dynascope_lsp.fixes.sites import CallSite, Site, calls, is_traced, sites
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

_NUMBERS = f"A size must fit a number that changes, too, and {NUMBERS_TOO}"
_GIVEN = "`dynamic` is given where this is compiled: see whether it is meant so."
SIZE = re.compile(r"tensor '(?P<name>[^']+)' size mismatch at index (?P<dimension>\d+)")
_SIZES = re.compile(r"\[(?P<sizes>.*)\]")

Edits = dict[str, list[types.TextEdit]]
"""The edits of each file, by path."""


class Sizes(Struct, frozen=True):
    """The sizes of each parameter in each compile, as Dynamo writes them."""

    values: dict[str, list[list[str]]]
    has_rest: bool
    """Whether code after a graph break was compiled separately, with sizes of its own."""

    def changed(self) -> dict[str, list[int]]:
        """Return by parameter the dimensions whose size changed."""
        found = {name: _differing(sizes) for name, sizes in self.values.items()}
        return {name: dimensions for name, dimensions in found.items() if dimensions}

    def are_shared(self) -> bool:
        """Whether a changed size equals another one in the first compile, but not in all."""
        columns = {
            (name, place): [sizes[place] for sizes in values]
            for name, values in self.values.items()
            for place in range(len(values[0]))
        }
        return any(
            one[0] == other[0] and one != other
            for key, one in columns.items()
            if key[1] in self.changed().get(key[0], ())
            for other in columns.values()
        )


def sizes_of(snapshot: Snapshot, function: Function) -> Sizes:
    """Return a function's sizes. Raises Refused unless Dynamo made each changed one a symbol."""
    assert snapshot.facts is not None and snapshot.placement is not None
    own = [each for each in snapshot.facts.own_compiles if snapshot.placement.now(each) == function.first_line]
    whole = [each for each in own if each.resumes_at is None]
    found = Sizes({}, has_rest=len(whole) < len(own))
    numbers = {each.id for each in whole}
    _check_setting(snapshot, max(numbers, default=0))
    by_compile: dict[int, dict[str, list[str]]] = {number: {} for number in sorted(numbers)}
    for _, each in snapshot.placement.tensors(function.first_line, function.first_line):
        match = _SIZES.search(each.fact.value)
        if each.fact.role == "parameter" and match is not None:
            for number in numbers & set(each.compiles):
                by_compile[number][each.fact.name] = [size.strip() for size in match["sizes"].split(",")]
    for name in sorted({name for sizes in by_compile.values() for name in sizes}):
        seen = [sizes[name] for sizes in by_compile.values() if name in sizes]
        if len({len(sizes) for sizes in seen}) == 1 and len(seen) == len(numbers):
            found.values[name] = seen
        elif any(sizes != seen[0] for sizes in seen) or not all(size.isdecimal() for size in seen[0]):
            raise Refused(f"`{name}` changes its size, too, and is not such a tensor in every call: {WHAT_TO_DO}")
    changed = found.changed()
    for name, dimensions in changed.items():
        for dimension in dimensions:
            _check_size(name, [sizes[dimension] for sizes in found.values[name]])
    _check_guards(snapshot, max(numbers, default=0), _seen(snapshot, numbers, found))
    _check_recompiles(snapshot, function, numbers, changed)
    return found


def _check_setting(snapshot: Snapshot, compile: int) -> None:
    assert snapshot.facts is not None
    recorded = snapshot.facts.reader.compile(compile)
    if recorded is not None and recorded.call is not None and recorded.call.dynamic is False:
        raise Refused(STAYS_FIXED)


def _check_size(name: str, sizes: list[str]) -> None:
    if sizes[-1].isdecimal():
        raise Refused(FIXED)
    if not sizes[-1].isidentifier():
        raise Refused(f"The size of `{name}` follows from other sizes: make those dynamic.")
    if {"0", "1"} & set(sizes):
        raise Refused(BY_ITSELF.format(name=name))


def _seen(snapshot: Snapshot, numbers: set[int], found: Sizes) -> dict[str, set[int]]:
    """Return the numbers that each size has had: `x.size()[0]`: 4, 8."""
    assert snapshot.facts is not None
    seen: dict[str, set[int]] = {}
    for name, values in found.values.items():
        for place, column in enumerate(zip(*values, strict=True)):
            seen[f"{name}.size()[{place}]"] = {int(size) for size in column if size.isdecimal()}
    for each in snapshot.facts.distinct("recompiles"):
        if numbers & set(each.compiles):
            seen.setdefault(guarded_value(each.fact.guard).text, set()).update(sizes_seen(each.fact.guard))
    return seen


def _check_guards(snapshot: Snapshot, compile: int, seen: dict[str, set[int]]) -> None:
    assert snapshot.facts is not None
    for guard in snapshot.facts.reader.guards(compile):
        if guard.kind == "SHAPE_ENV" and fits_numbers(guard.code):
            raise Refused(_NUMBERS)
        if guard.kind == "SHAPE_ENV" and asks_sizes(guard.code, seen):
            raise Refused(ASKS)


def _check_recompiles(snapshot: Snapshot, function: Function, numbers: set[int], changed: dict[str, list[int]]) -> None:
    """Raise Refused if a size is recompiled for that is no parameter's, or that is 0 or 1."""
    assert snapshot.facts is not None and snapshot.placement is not None
    for each in snapshot.facts.distinct("recompiles"):
        if not numbers & set(each.compiles) or snapshot.placement.now(each.fact) != function.first_line:
            continue
        mismatch = SIZE.search(each.fact.guard)
        if mismatch is None:
            continue
        if int(mismatch["dimension"]) not in changed.get(mismatch["name"], ()):
            raise Refused(f"`{mismatch['name']}` changes its size, too, and is no argument by itself: {WHAT_TO_DO}")
        sizes = _SIZES.search(each.fact.value or "")
        if sizes is not None and sizes["sizes"].split(",")[int(mismatch["dimension"])].strip() in "01":
            raise Refused(BY_ITSELF.format(name=mismatch["name"]))


def _differing(sizes: list[list[str]]) -> list[int]:
    return [place for place in range(len(sizes[0])) if len({each[place] for each in sizes}) > 1]


def other_tensors(snapshot: Snapshot, function: Function, parameters: set[str]) -> bool:
    """Whether a compile guards on tensors other than its parameters and the module's own."""
    assert snapshot.facts is not None and snapshot.placement is not None
    own: list[model.Compile] = snapshot.facts.own_compiles
    return any(
        guard.kind == "TENSOR_MATCH"
        and not guard.expression.startswith("L['self'].")
        and guard.expression not in {f"L['{name}']" for name in parameters}
        for each in own
        if snapshot.placement.now(each) == function.first_line
        for guard in snapshot.facts.reader.guards(each.id)
    )


def fixes(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    mismatch = SIZE.search(finding.guard or "")
    if mismatch is None or snapshot.text.tree is None:
        return
    function = snapshot.text.index.function_at(finding.line)
    if function is None or finding.stale:
        raise Refused(finding.stale or "Only a function that has a name can be marked.")
    sizes = sizes_of(snapshot, function)
    if mismatch["name"] not in sizes.changed():
        raise Refused(f"`{mismatch['name']}` is made in the function, and cannot be marked.")
    compiled = sites(snapshot, function)
    yield from alternatives(
        lambda: _marked(snapshot, function, sizes, compiled),
        lambda: _dynamic(snapshot, function, sizes, compiled),
        told=0,
    )


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
        changed = [(name, which[0] if len(which) == 1 else tuple(which)) for name, which in sizes.changed().items()]
        marks = [f"{mark}({_argument(call, function, name)}, {which})" for name, which in changed]
        edits.setdefault(call.snapshot.path, []).append(inserted_before(call.snapshot.text, _statement(call), *marks))
        lines += [each for each in marks if each not in lines]
    more = " …" if len(lines) > 1 else ""
    here = edits.pop(snapshot.path, [])
    return Fix(f"Mark it dynamic before the call: {lines[0]}{more}", here, preferred=True, elsewhere=edits)


def _statement(call: CallSite) -> ast.stmt:
    """Return the statement of a call. Raises Refused where no line can be inserted before it."""
    index = call.snapshot.text.index
    node: ast.AST = call.node
    while not isinstance(node, ast.stmt):
        node = index.parents[node]
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.NamedExpr):
            raise Refused("The argument has no name before the call: pass `dynamic=True` to `torch.compile`.")
        if isinstance(node, ast.IfExp | ast.BoolOp):
            raise Refused("The call runs only under a condition: pass `dynamic=True` to `torch.compile`.")
    line = call.snapshot.text.line(node.lineno)
    alone = not line.encode()[: node.col_offset].strip()
    alone &= not call.snapshot.text.line(node.lineno - 1).rstrip().endswith("\\")
    if not alone or not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
        raise Refused("The call has no line to itself: pass `dynamic=True` to `torch.compile`.")
    function = index.function_at(node.lineno)
    if function is not None and is_traced(call.snapshot, function):
        raise Refused("The call is in compiled code, where nothing can be marked.")
    return node


def _argument(call: CallSite, function: Function, parameter: str) -> str:
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
    return Fix("Compile with dynamic=True", edits.pop(snapshot.path, []), elsewhere=edits)


def _option(site: Site, name: str) -> bool:
    return isinstance(site.node, ast.Call) and any(each.arg in (name, None) for each in site.node.keywords)
