"""What is known once a compile is over: its guards, its symbols, its backend."""

from __future__ import annotations

import re
from typing import Any

from dynascope.agent.internals.compile_context import backend_name
from dynascope.agent.internals.guards import guards_so_far
from dynascope.agent.internals.shapes import symbols_so_far
from dynascope.agent.user_code import real_path
from dynascope.facts.model import Guard, Symbol, Tensor

_WORD = re.compile(r"[A-Za-z_]\w*")


def backend_of(output: Any) -> str:
    return backend_name(output)


def guards(output: Any) -> list[Guard]:
    return [
        Guard(
            path=real_path(fact.file) if fact.file and not fact.file.startswith("<") else "",
            line=fact.line or 0,
            expression=fact.source,
            kind=fact.kind,
            code=[part for part in fact.code if not _is_boilerplate(part)],
        )
        for fact in guards_so_far(output)
    ]


def _is_boilerplate(part: str) -> bool:
    """What every tensor has: `hasattr(L['x'], '_dynamo_dynamic_indices') == False`."""
    return part.startswith("hasattr(") and "'_dynamo_" in part and part.endswith("False")


def symbols(output: Any, tensors: list[Tensor]) -> list[Symbol]:
    """Each with the first line that shows it."""
    found = symbols_so_far(output)
    if not found:
        return []
    places: dict[str, Tensor] = {}
    for tensor in tensors:
        for word in _WORD.findall(tensor.value):
            places.setdefault(word, tensor)
    return [
        Symbol(
            path=places[fact.name].path if fact.name in places else "",
            line=places[fact.name].line if fact.name in places else 0,
            name=fact.name,
            hint=fact.hint,
            low=fact.low.replace("int_oo", "oo"),
            high=fact.high,
            origins=fact.sources,
            replacement=fact.replacement,
            constraints=fact.constraints,
        )
        for fact in found
    ]
