"""Show shapes in the text: inlay hints after parameters and assigned names, and at a stop the names that have values.

A shape that a name already showed in this function is not repeated. Only the debugger knows the values at a stop, not
the facts of an earlier run: so inline values are names, not texts.
"""

from __future__ import annotations

import ast
from typing import Annotated

import msgspec
from lsprotocol import types

from dynascope_lsp.documents.text import LAST_COLUMN
from dynascope_lsp.features.lifecycle import refresh
from dynascope_lsp.recorded import markdown
from dynascope_lsp.recorded.shapes import Seen, by_value, values_of
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.registry import command, feature
from dynascope_lsp.session import LspSession

LONGEST = 60
"""The most characters of a hint; its tooltip has the whole text."""


class HintedName(msgspec.Struct):
    """The data of a hint, with which its tooltip is asked for: a name on a line of a document."""

    uri: str
    line: Annotated[int, msgspec.Meta(ge=1, lt=LAST_COLUMN)]
    name: str


@feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions())
def inlay_hint(session: LspSession, params: types.InlayHintParams) -> list[types.InlayHint]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or snapshot.placement is None or not snapshot.settings.inlay_hints.enabled:
        return []
    last = min(params.range.end.line + 1, len(snapshot.text.lines))
    return list(hints(snapshot, params.range.start.line + 1, last))


@feature(types.INLAY_HINT_RESOLVE)
def resolve(session: LspSession, hint: types.InlayHint) -> types.InlayHint:
    """Add the tooltip on request: every value of every compile."""
    if hint.data is None:
        return hint
    named = msgspec.convert(hint.data, HintedName)
    snapshot = session.snapshot(named.uri)
    if snapshot is not None and snapshot.facts:
        seen = values_of(snapshot, named.name, named.line)
        if seen:
            text = markdown.values(snapshot.facts, named.name, by_value(seen))
            hint.tooltip = types.MarkupContent(types.MarkupKind.Markdown, text)
    return hint


@command("dynascope.showShapesOfCompile")
def show_shapes_of_compile(session: LspSession, arguments: list[object]) -> None:
    """Show the shapes of `[compile]` from now on; see `InlayHints.compile`."""
    if arguments and isinstance(arguments[0], str):
        session.choose_compile(arguments[0])
        refresh(session)


def hints(snapshot: Snapshot, first: int, last: int) -> list[types.InlayHint]:
    """Return the hints of these lines, both included."""
    index = snapshot.text.index
    assert snapshot.placement is not None and snapshot.facts is not None
    function = index.function_at(first)
    begin = function.first_line if function else first  # shapes shown above these lines are not repeated
    by_line: dict[int, dict[str, list[Seen]]] = {}
    for line, tensor in snapshot.placement.tensors(begin, last):
        by_line.setdefault(line, {}).setdefault(tensor.fact.name, []).append(tensor)
    shown: dict[tuple[object, str], str] = {}
    found: list[types.InlayHint] = []
    for line in sorted(by_line):
        function = index.function_starting(line)
        names = by_line[line]
        if function is not None and any(each.fact.role == "parameter" for seen in names.values() for each in seen):
            for parameter in function.parameters:
                seen = [each for each in names.get(parameter.arg, ()) if each.fact.role == "parameter"]
                hint = _hint(snapshot, parameter, parameter.arg, seen, shown, function)
                wanted = snapshot.settings.inlay_hints.parameters and parameter.annotation is None
                if hint is not None and wanted and first <= parameter.lineno <= last:
                    found.append(hint)
        owner = index.function_at(line)
        done: set[str] = set()
        for name in sorted(index.assigned.get(line, ()), key=lambda each: -each.col_offset):
            seen = [each for each in names.get(name.id, ()) if each.fact.role == "assigned"]
            if name.id in done:
                continue
            done.add(name.id)
            hint = _hint(snapshot, name, name.id, seen, shown, owner)
            if hint is not None and line >= first:
                found.append(hint)
    return found


def _hint(
    snapshot: Snapshot,
    node: ast.Name | ast.arg,
    name: str,
    seen: list[Seen],
    shown: dict[tuple[object, str], str],
    function: object,
) -> types.InlayHint | None:
    if not seen or snapshot.facts is None:
        return None
    label = _label(snapshot, seen)
    if label is None or shown.get((function, name)) == label:
        return None
    shown[function, name] = label
    end = node.col_offset + len(name.encode())
    text = label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
    return types.InlayHint(
        snapshot.text.position(node.lineno, end),
        f": {text}",
        kind=types.InlayHintKind.Type,
        data=msgspec.to_builtins(HintedName(snapshot.uri, node.lineno, name)),
    )


def _label(snapshot: Snapshot, seen: list[Seen]) -> str | None:
    """Return the chosen compile's value; all values if it has several (loop iterations)."""
    assert snapshot.facts is not None
    chosen = snapshot.settings.inlay_hints.compile
    numbers = sorted({number for each in seen for number in each.compiles})
    if chosen == "latest":
        numbers = numbers[-1:]
    elif chosen == "first":
        numbers = numbers[:1]
    elif chosen != "all":
        numbers = [number for number in numbers if snapshot.facts.compiles[number].compile_id == chosen]
    values = dict.fromkeys(each.fact.value for each in seen if not set(numbers).isdisjoint(each.compiles))
    return " | ".join(values) or None


@feature(types.TEXT_DOCUMENT_INLINE_VALUE)
def inline_value(session: LspSession, params: types.InlineValueParams) -> list[types.InlineValue]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None:
        return []
    index = snapshot.text.index
    stopped = min(params.context.stopped_location.end.line + 1, len(snapshot.text.lines))
    function = index.function_at(stopped)
    first = max(function.name_line if function else 1, params.range.start.line + 1)
    last = min(stopped, params.range.end.line + 1)
    found: list[types.InlineValue] = []
    local = None
    if function is not None:
        stored = (each for each in ast.walk(function.node) if isinstance(each, ast.Name))
        local = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
        local |= {each.arg for each in function.parameters}
    for line in range(first, last + 1):
        if index.function_at(line) is not function:
            continue
        names = {name.id: name for name in [*index.read.get(line, ()), *index.assigned.get(line, ())]}
        for name in sorted(names.values(), key=lambda each: each.col_offset):
            if local is None or name.id in local:
                place = snapshot.text.range_of(name)
                found.append(types.InlineValueVariableLookup(place, True, name.id))
        if function is not None and line == function.name_line:
            for parameter in function.parameters:
                end = parameter.col_offset + len(parameter.arg.encode())
                place = snapshot.text.range(parameter.lineno, parameter.col_offset, parameter.lineno, end)
                found.append(types.InlineValueVariableLookup(place, True, parameter.arg))
    return found
