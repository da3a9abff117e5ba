"""Inlay hints: the shape behind each name that is given a tensor, and behind parameters.

Quiet: what a name already showed in this function is not shown again.
"""

from __future__ import annotations

import ast

from dynascope.facts import model
from lsprotocol import types

from dynascope_lsp import markdown
from dynascope_lsp.registry import command, feature
from dynascope_lsp.session import Session
from dynascope_lsp.snapshot import Snapshot

LONGEST = 60
"""Characters of a hint; all of it is in its tooltip."""


@feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions())
def inlay_hint(session: Session, params: types.InlayHintParams) -> list[types.InlayHint]:
    snapshot = session.snapshot(params.text_document.uri)
    if snapshot is None or snapshot.placement is None or not snapshot.settings.inlay_hints.enabled:
        return []
    return list(hints(snapshot, params.range.start.line + 1, params.range.end.line + 1))


@command("dynascope.showShapesOfCompile")
def show_shapes_of_compile(session: Session, arguments: list[object]) -> None:
    """`[compile]`: whose shapes to show from now on; see `InlayHints.compile`."""
    from dynascope_lsp.features.refreshing import refresh

    if arguments and isinstance(arguments[0], str):
        session.choose_compile(arguments[0])
        refresh(session)


def hints(snapshot: Snapshot, first: int, last: int) -> list[types.InlayHint]:
    """Of the lines between, both included."""
    index = snapshot.text.index
    assert snapshot.placement is not None and snapshot.facts is not None
    if index is None:
        return []
    function = index.function_at(first)
    begin = function.first_line if function else first  # what the lines above show decides what is repeated
    by_line: dict[int, dict[str, list[model.Tensor]]] = {}
    for line, tensor in snapshot.placement.tensors(begin, last):
        by_line.setdefault(line, {}).setdefault(tensor.name, []).append(tensor)
    shown: dict[tuple[object, str], str] = {}
    found: list[types.InlayHint] = []
    for line in sorted(by_line):
        function = index.function_starting(line)
        names = by_line[line]
        if function is not None and any(each.role == "parameter" for seen in names.values() for each in seen):
            for parameter in function.parameters:
                seen = [each for each in names.get(parameter.arg, ()) if each.role == "parameter"]
                hint = _hint(snapshot, parameter, parameter.arg, seen, shown, function)
                wanted = snapshot.settings.inlay_hints.parameters and parameter.annotation is None
                if hint is not None and wanted and first <= parameter.lineno <= last:
                    found.append(hint)
        owner = index.function_at(line)
        done: set[str] = set()
        for name in sorted(index.assigned.get(line, ()), key=lambda each: -each.col_offset):
            seen = [each for each in names.get(name.id, ()) if each.role == "assigned"]
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
    seen: list[model.Tensor],
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
    rows: dict[str, list[model.Tensor]] = {}
    for each in seen:
        rows.setdefault(each.value, []).append(each)
    tooltip = types.MarkupContent(types.MarkupKind.Markdown, markdown.values(snapshot.facts, name, rows))
    text = label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
    return types.InlayHint(
        snapshot.text.position(node.lineno, end), f": {text}", kind=types.InlayHintKind.Type, tooltip=tooltip
    )


def _label(snapshot: Snapshot, seen: list[model.Tensor]) -> str | None:
    """The value of the chosen compile; several in one compile (turns of a loop) are all shown."""
    assert snapshot.facts is not None
    chosen = snapshot.settings.inlay_hints.compile
    numbers = sorted({each.compile for each in seen})
    if chosen == "latest":
        numbers = numbers[-1:]
    elif chosen == "first":
        numbers = numbers[:1]
    elif chosen != "all":
        numbers = [number for number in numbers if snapshot.facts.compile_id(number) == chosen]
    values = dict.fromkeys(each.value for each in seen if each.compile in numbers)
    return " | ".join(values) or None
