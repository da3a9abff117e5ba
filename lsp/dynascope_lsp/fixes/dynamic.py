"""A recompile because a size changed: `mark_dynamic` where the function is called, or `dynamic=True` where it is
compiled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lsprotocol import types

from dynascope_lsp.documents.edits import inserted_before
from dynascope_lsp.documents.syntax import Function, Index, dotted
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding

_SIZE = re.compile(r"tensor '(?P<name>[^']+)' size mismatch at index (?P<dimension>\d+)")


def fixes(text: Text, finding: Finding) -> Iterator[Fix]:
    index, guard = text.index, finding.guard
    if index is None or guard is None:
        return
    mismatch = _SIZE.search(guard)
    function = index.function_at(finding.line)
    if mismatch is None or function is None:
        return
    parameter = re.sub(r"^L\['(\w+)'\]$", r"\1", mismatch["name"])
    compiled = list(_sites(index, function))
    for call in _calls(index, function, compiled):
        argument = _argument(call, function, parameter)
        statement = index.statement_of(call)
        if argument is None or statement is None:
            continue
        line = f"torch._dynamo.mark_dynamic({argument}, {mismatch['dimension']})"
        yield Fix(f"Mark it dynamic before the call: {line}", [inserted_before(text, statement, line)], preferred=True)
    for site in compiled:
        if any(each.arg == "dynamic" for each in site.keywords):
            continue
        end = text.range_of(site).end
        place = types.Position(end.line, end.character - 1)
        comma = ", " if site.args or site.keywords else ""
        yield Fix("Compile with dynamic=True", [types.TextEdit(types.Range(place, place), f"{comma}dynamic=True")])


def _sites(index: Index, function: Function) -> Iterator[ast.Call]:
    """`torch.compile(…)` of this function, or of an object of its class."""
    owner = function.qualified_name.rpartition(".")[0]
    wanted = {function.node.name, owner}
    for decorator in function.node.decorator_list:
        if isinstance(decorator, ast.Call) and dotted(decorator.func) == "torch.compile":
            yield decorator
    for calls in index.calls.values():
        for call in calls:
            if dotted(call.func) == "torch.compile" and call.args and _stands_for(index, call.args[0]) & wanted:
                yield call


def _stands_for(index: Index, node: ast.expr) -> set[str]:
    """The names a compiled expression may mean: of the function, or of the class it makes an object of."""
    found = {name for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute) and (name := dotted(each))}
    for each in ast.walk(index.tree):
        if isinstance(each, ast.Assign) and any(isinstance(t, ast.Name) and t.id in found for t in each.targets):
            found |= {n.id for n in ast.walk(each.value) if isinstance(n, ast.Name)}
    return found


def _calls(index: Index, function: Function, sites: list[ast.Call]) -> list[ast.Call]:
    """Calls of what came of compiling."""
    names = {function.node.name} if any(site in function.node.decorator_list for site in sites) else set()
    names |= {function.node.name} if any(dotted(d) == "torch.compile" for d in function.node.decorator_list) else set()
    for site in sites:
        parent = index.parents.get(site)
        if isinstance(parent, ast.Assign):
            names |= {name for target in parent.targets if (name := dotted(target))}
    return [
        call
        for _, calls in sorted(index.calls.items())
        for call in calls
        if dotted(call.func) in names or call.func in sites
    ]


def _argument(call: ast.Call, function: Function, parameter: str) -> str | None:
    """The name given for a parameter; None when it is not a plain name."""
    names = [each.arg for each in function.parameters if each.arg not in ("self", "cls")]
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    value = given.get(parameter)
    return dotted(value) if value is not None else None
