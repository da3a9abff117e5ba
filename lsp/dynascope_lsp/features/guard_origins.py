"""Add the origins of failed guards to the definitions of a function's name."""

from __future__ import annotations

from lsprotocol import types

from dynascope_lsp.registry import feature
from dynascope_lsp.session import Session


@feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(session: Session, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return guard origins on the name in `def`, where other servers return only that line."""
    snapshot = session.snapshot(params.text_document.uri)
    index = snapshot.text.index if snapshot else None
    if snapshot is None or index is None or snapshot.facts is None or snapshot.placement is None:
        return None
    line = params.position.line + 1
    function = index.function_starting(line)
    if function is None or line != function.name_line or snapshot.text.word_at(params.position) != function.node.name:
        return None
    found: dict[tuple[str, int], types.Location] = {}
    for each in (common.fact for common in snapshot.facts.recompiles):
        if snapshot.placement.now(each) in (function.first_line, line) and each.guard_path and each.guard_line:
            now = session.locate(each.guard_path, each.guard_line)
            text = session.text_of(each.guard_path)
            if now is not None and text is not None:
                place = text.range_of_line(now)
                found[each.guard_path, now] = types.Location(session.uri_of(each.guard_path), place)
    return list(found.values()) or None
