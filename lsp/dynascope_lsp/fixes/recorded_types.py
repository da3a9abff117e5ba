"""Check that a function gets no other values than those whose types were recorded: plain tensors, in compiled code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dynascope_lsp.fixes.fix import Refused
from dynascope_lsp.fixes.inference import full_name
from dynascope_lsp.fixes.place import TracedStatement
from dynascope_lsp.fixes.sites import COMPILE, is_traced
from dynascope_lsp.recorded.program_files import program_files
from dynascope_lsp.recorded.snapshot import Snapshot

_OF_MODULES = ("forward", "__call__")
_PLAIN = re.compile(r"type=<class 'torch\.(Tensor|nn\.parameter\.(Parameter|Buffer))'>")


def check_plain_tensors(place: TracedStatement) -> None:
    """Raise Refused if a compile got tensors of a subclass, which torch.cond may not take."""
    facts = place.snapshot.facts
    assert facts is not None
    for number in facts.compiles:
        guards = facts.reader.guards(number)
        tensors = {each.expression for each in guards if each.kind == "TENSOR_MATCH"}
        classes = [each.code for each in guards if each.kind == "TYPE_MATCH" and each.expression in tensors]
        if any(not _PLAIN.search(code) for codes in classes for code in codes):
            raise Refused("The program computes with a subclass of tensors, which torch.cond may not take.")


def check_only_compiled(place: TracedStatement) -> None:
    """Raise Refused if the function may also run uncompiled, where nothing was recorded."""
    name, decorators = place.function.node.name, place.function.node.decorator_list
    if name in _OF_MODULES or any(_compiles(place.snapshot, each) for each in decorators):
        return
    for each in program_files(place.snapshot) or [place.snapshot]:
        if any(not _is_compiled(each, node) for node in _loads(each, name)):
            raise Refused(
                f"`{name}` is also used where it is not compiled, perhaps with other values than such tensors: make "
                "this edit by hand if it never gets any."
            )


def _loads(snapshot: Snapshot, name: str) -> Iterator[ast.Name | ast.Attribute]:
    """Yield the reads of a name or attribute, unless the file compiles what has it."""
    found = []
    for node in ast.walk(snapshot.text.tree or ast.Module([], [])):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name and _compiles(snapshot, node.value):
                return
            case ast.Name(id=read, ctx=ast.Load()) | ast.Attribute(attr=read, ctx=ast.Load()) if read == name:
                found.append(node)
    yield from found


def _compiles(snapshot: Snapshot, node: ast.expr) -> bool:
    index = snapshot.text.index
    return index is not None and full_name(index, node.func if isinstance(node, ast.Call) else node) == COMPILE


def _is_compiled(snapshot: Snapshot, node: ast.expr) -> bool:
    """Whether a function is read in code that was traced, or in order to compile it."""
    index = snapshot.text.index
    assert index is not None
    function = index.function_at(node.lineno)
    if function is not None and is_traced(snapshot, function):
        return True
    parent = index.parents.get(node)
    return isinstance(parent, ast.Call) and node in parent.args and _compiles(snapshot, parent)
