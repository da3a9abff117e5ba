"""The value of a data breakpoint's access path in a frame being traced, and what is called a change of it.

A tensor changes when its dtype, fake shape or device does, and an attribute or element also when it is set to another
tensor like it; a number or a constant when its value does; a container or an object when the name refers to another
one (what happens inside it is a mutation, which `watchpoint_stops` receives). A name that gets its first value in a
call of its function does not change, nor does a value that Dynamo realizes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import torch

from dynascope.agent.breakpoints.data.data_id import access_path
from dynascope.agent.inspection.row_paths import row_at
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Datum, Row, ViewOptions
from dynascope.agent.inspection.values.symbolic_text import contents
from dynascope.agent.internals.frames.frame_state import source_of_global
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.guards.guards import as_written
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic
from dynascope.agent.internals.symbolic_shapes.shapes import symbols_in
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.variables import is_variable, source_of, without_lazy


@dataclass(slots=True)
class Seen:
    """A value at an instruction: the same while `identity` is equal; `text` is for the user."""

    identity: object
    text: str
    sources: frozenset[str]
    is_unwrapped: bool
    line: int

    @classmethod
    def of(cls, subject: Subject, line: int) -> Seen:
        content = subject.content
        if isinstance(content, (held.Items, held.Entries, held.Members, held.Object)) and subject.variable is not None:
            identity: object = source_of(subject.variable) or id(subject.variable)
        elif isinstance(content, held.Tensor) and subject.is_part:
            identity = subject.row.value, getattr(content.node, "name", None)
        elif isinstance(content, held.Real):
            identity = id(content.value)
        else:
            identity = subject.row.value
        return cls(identity, subject.row.value, subject.sources, subject.is_unwrapped, line)

    def changes_into(self, now: Seen) -> bool:
        if self.identity == now.identity:
            return False
        return self.is_unwrapped == now.is_unwrapped or self.sources.isdisjoint(now.sources)


@dataclass(slots=True)
class Subject:
    """The value as it is now, in terms of guards, nodes, symbols and mutations."""

    row: Row
    content: held.Contents | None
    """None for a symbolic size, and for a real value that Dynamo does not track."""
    variable: object | None
    owner: object | None
    """The variable whose attribute it is."""
    attribute: str | None
    is_part: bool
    """Whether it is an attribute or an element rather than a name of the frame."""
    sources: frozenset[str]
    """As the user writes them; empty for a value created while tracing."""
    node: Any
    symbols: frozenset[str]
    is_unwrapped: bool
    """Whether Dynamo tracks it rather than the real value, where a tensor's sizes are plain numbers."""


def find(translator: Translator, what: str) -> Subject | None:
    """Return the value of an access path in a frame; None while the path has no value."""
    expression = access_path(what)
    if expression is None:
        return None
    with torch._C.DisableTorchFunction():
        names = Names(translator)
        options = names.options()
        row = row_at(expression, names, options)
        return None if row is None else _subject(row, expression, names, options)


def may_be_set(translator: Translator, what: str) -> bool:
    """Whether a path without a value ends in an attribute that its existing owner may get."""
    expression = access_path(what)
    if not isinstance(expression, ast.Attribute):
        return False
    with torch._C.DisableTorchFunction():
        names = Names(translator)
        options = names.options()
        row = row_at(expression.value, names, options)
        content = of_row(row, options)[1] if row is not None else None
    if isinstance(content, held.Object):
        return True
    if not isinstance(content, (held.Real, held.Unrealised)):
        return False
    kind = type(content.value)
    has_dict = kind.__dictoffset__ != 0 and not issubclass(kind, torch.Tensor)
    return has_dict or any(expression.attr in vars(each) for each in kind.__mro__)


def of_row(row: Row, options: ViewOptions) -> tuple[object | None, held.Contents | None]:
    """Return the variable of a row, without cell and lazy wrapper, and its contents."""
    variable = row.subject
    if variable is None or isinstance(variable, Datum) or not is_variable(variable):
        return None, None
    variable = without_lazy(variable)[0] or variable
    content = contents(options, variable)
    if isinstance(content, held.Cell) and content.contents is not None:
        variable = without_lazy(content.contents)[0] or content.contents
        content = contents(options, variable)
    return variable, content


def _subject(row: Row, expression: ast.expr, names: Names, options: ViewOptions) -> Subject:
    variable, content = of_row(row, options)
    owner, attribute = None, None
    if isinstance(expression, ast.Attribute):
        owner_row = row_at(expression.value, names, options)
        owner = of_row(owner_row, options)[0] if owner_row is not None else None
        attribute = expression.attr
    root = _root(expression, names, options)
    symbolic = (
        row.subject if is_symbolic(row.subject) else content.symbolic if isinstance(content, held.Number) else None
    )
    return Subject(
        row=row,
        content=content,
        variable=variable,
        owner=owner,
        attribute=attribute,
        is_part=not isinstance(expression, ast.Name),
        sources=_sources(_source(variable, content), expression, root),
        node=content.node if isinstance(content, (held.Tensor, held.Number)) else None,
        symbols=symbols_in(symbolic) if is_symbolic(symbolic) else frozenset(),
        is_unwrapped=_is_unwrapped(content, expression, names, options),
    )


def _is_unwrapped(content: held.Contents | None, expression: ast.expr, names: Names, options: ViewOptions) -> bool:
    """Whether Dynamo tracks the value; a part without its own variable is judged by its owner."""
    while content is None and isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
        row = row_at(expression, names, options)
        content = of_row(row, options)[1] if row is not None else None
        if content is not None:
            return isinstance(content, (held.Tensor, held.Number))
    return content is not None and not isinstance(content, held.Unrealised)


def _root(expression: ast.expr, names: Names, options: ViewOptions) -> str | None:
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    row = row_at(expression, names, options)
    if row is None:
        return None
    source = _source(*of_row(row, options))
    if row.subject is None and isinstance(expression, ast.Name):  # Dynamo has not realized it yet
        is_local = expression.id in names.locals
        source = f"L[{expression.id!r}]" if is_local else source_of_global(names.translator, expression.id)
    return source


def _sources(own: str | None, expression: ast.expr, root: str | None) -> frozenset[str]:
    """Return its own source and its path from the root, as an unread part has no variable."""
    sources = {own} if own else set()
    if root is not None:
        text = ast.unparse(expression)
        name = next(node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
        sources.add(root + text[len(name) :])
    return frozenset(map(as_written, sources))


def _source(variable: object | None, content: held.Contents | None) -> str | None:
    if isinstance(content, held.Unrealised):
        return content.source
    return source_of(variable) if variable is not None else None
