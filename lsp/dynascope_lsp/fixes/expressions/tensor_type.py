"""Read recorded tensor types (dtype, sizes, device), and those of names before a statement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from dynascope_lsp.documents.syntax import Function, Index
from dynascope_lsp.recorded.snapshot import Snapshot

FLOATS = ("f32", "f64")
_WRITTEN = re.compile(r"(?P<dtype>[a-z]+\d+)\[(?P<sizes>[\d, ]*)\](?: (?P<device>[a-z]+(?::\d+)?))?$")


class TensorType(Struct, frozen=True):
    """A tensor's type. Sizes are numbers; if they are symbols, an earlier compile has numbers."""

    dtype: str
    sizes: tuple[int, ...]
    device: str = "cpu"

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


def read_type(value: str) -> TensorType | None:
    """Parse a type such as `f32[8, 16] cuda:0`; None with a symbolic size or no plain tensor."""
    found = _WRITTEN.fullmatch(value)
    if found is None:
        return None
    sizes = tuple(int(each) for each in found["sizes"].split(",") if each.strip())
    return TensorType(found["dtype"], sizes, found["device"] or "cpu")


class Types:
    """The types of one function's names in the recorded launch."""

    def __init__(self, snapshot: Snapshot, function: Function) -> None:
        assert snapshot.facts is not None and snapshot.placement is not None and snapshot.text.index is not None
        self._index: Index = snapshot.text.index
        self._function = function
        self._varying: set[str] = set()
        self._recorded: dict[tuple[int, str], set[TensorType | None]] = {}
        for line, each in snapshot.placement.tensors(function.first_line, function.last_line):
            found = read_type(each.fact.value)
            if found is None and "[" in each.fact.value:
                self._varying.add(each.fact.name)
            if found is not None or "[" not in each.fact.value:
                self._recorded.setdefault((line, each.fact.name), set()).add(found)
        self._traced = {snapshot.placement.line(line) for line in snapshot.facts.seconds_by_line}

    def at(self, line: int, name: str) -> TensorType | None:
        """Return the type assigned on a line; None if it was no tensor or had several types."""
        found = self._recorded.get((line, name), set())
        return next(iter(found)) if len(found) == 1 else None

    def is_tensor_somewhere(self, name: str) -> bool:
        return name in self._varying or any(each == name for _, each in self._recorded)

    def varies(self, name: str) -> bool:
        """Whether a name was a tensor with sizes that are symbols, too."""
        return name in self._varying

    def before(self, name: str, statement: ast.stmt) -> TensorType | None:
        """Return a name's type when a statement began; None if it was not one in the whole launch."""
        found: set[TensorType | None] = set()
        for line in self._assignments_before(name, statement):
            recorded = self._recorded.get((line, name))
            if recorded is not None:
                found |= recorded
            elif line in self._traced:
                return None  # no tensor
        return next(iter(found)) if len(found) == 1 else None

    def _assignments_before(self, name: str, statement: ast.stmt) -> Iterator[int]:
        """Yield the lines that may have assigned a name's value; the function's for a parameter."""
        node: ast.AST = statement
        while node is not self._function.node:
            parent = self._index.parents[node]
            for block in _blocks(parent):
                if node not in block:
                    continue
                for earlier in reversed(block[: block.index(node)]):
                    lines = list(_stores(earlier, name))
                    yield from lines
                    if lines and not _blocks(earlier):
                        return
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                yield from _stores(parent, name)
            node = parent
        if any(each.arg == name for each in self._function.parameters):
            yield self._function.first_line


def _blocks(node: ast.AST) -> list[list[ast.AST]]:
    """Return the lists of statements in a statement."""
    handlers = [each.body for each in getattr(node, "handlers", ())]
    cases = [each.body for each in getattr(node, "cases", ())]
    return [*(block for name in ("body", "orelse", "finalbody") if (block := _list(node, name))), *handlers, *cases]


def _list(node: ast.AST, name: str) -> list[ast.AST]:
    value = getattr(node, name, None)
    return value if isinstance(value, list) else []


def _stores(node: ast.AST, name: str) -> Iterator[int]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Load):
            yield each.lineno
