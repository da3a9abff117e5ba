"""Read the symbols where a compile ends, and shorten the texts of what failed."""

from __future__ import annotations

import re
from typing import Any

from dynascope.agent.internals.symbolic_shapes.shapes import symbols_so_far
from dynascope.facts import break_message
from dynascope.facts.model import Symbol, TracedTensor

_LINE_KEPT = 1000
_WORD = re.compile(r"[A-Za-z_]\w*")


def symbols(output: Any, tensors: list[TracedTensor]) -> list[Symbol]:
    """Return the symbols, each with the first line that shows it."""
    symbol_facts = symbols_so_far(output)
    if not symbol_facts:
        return []
    places: dict[str, TracedTensor] = {}
    for tensor in tensors:
        for word in _WORD.findall(tensor.value):
            places.setdefault(word, tensor)
    return [
        Symbol(
            path=places[fact.name].path if fact.name in places else "",
            line=places[fact.name].line if fact.name in places else 0,
            name=fact.name,
            hint=fact.hint,
            low=fact.low,
            high=fact.high,
            origins=fact.sources,
            replacement=fact.replacement,
            constraints=fact.constraints,
        )
        for fact in symbol_facts
    ]


def shortened(text: str, most: int) -> str:
    """Return the beginning and the end of a text that has too many lines, or too long ones.

    What failed is said first, and the lines of the program that led there are last.
    """
    text = break_message.without_advice(text).strip()
    lines = [line if len(line) <= _LINE_KEPT else f"{line[:_LINE_KEPT]} …" for line in text.splitlines()]
    left_out = len(lines) - most
    if left_out > 0:
        lines[most // 2 : most // 2 + left_out] = [f"… {left_out} lines left out …"]
    return "\n".join(lines)
