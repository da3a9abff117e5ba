"""Parse a DAP logMessage into text and `{expressions}` with the conversions and formats of an f-string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_OPENING, _CLOSING = "([{", ")]}"
_BY_CONVERSION = {"r": "repr", "s": "str", "a": "ascii"}


class Expression(NamedTuple):
    """One `{text!conversion:format}`; the format may itself contain expressions."""

    text: str
    conversion: str = ""
    format: str = ""

    @property
    def is_plain(self) -> bool:
        return not self.conversion and not self.format


def pieces(template: str) -> Iterator[str | Expression]:
    """Yield the parts in order; `{{` and `}}` are braces, as is a brace that is not closed."""
    at = 0
    while at < len(template):
        char = template[at]
        if char in "{}" and template[at : at + 2] == char * 2:
            yield char
            at += 2
            continue
        expression = _expression(template, at + 1) if char == "{" else None
        if expression is None:
            yield char
            at += 1
        else:
            yield expression[0]
            at = expression[1]


def for_debugpy(template: str) -> str:
    """Rewrite conversions and formats as calls of `repr` and `format`: pydevd has neither."""
    if all(isinstance(piece, str) or piece.is_plain for piece in pieces(template)):
        return template
    parts = []
    for piece in pieces(template):
        if isinstance(piece, str):
            parts.append(piece * 2 if piece in ("{", "}") else piece)
            continue
        text = f"{_BY_CONVERSION[piece.conversion]}({piece.text})" if piece.conversion else piece.text
        parts.append(f"{{format({text}, {piece.format!r})}}" if piece.format else f"{{{text}}}")
    return "".join(parts)


def _expression(template: str, start: int) -> tuple[Expression, int] | None:
    """Return the expression at `start` and the index after its closing brace; None if unclosed."""
    end = _end_of_code(template, start)
    if end is None:
        return None
    text, conversion = template[start:end], ""
    if template[end] == "!":
        conversion, end = template[end + 1], end + 2
    if template[end] == "}":
        return Expression(text, conversion), end + 1
    depth, at = 1, end + 1
    while at < len(template):
        depth += {"{": 1, "}": -1}.get(template[at], 0)
        if not depth:
            return Expression(text, conversion, template[end + 1 : at]), at + 1
        at += 1
    return None


def _end_of_code(template: str, at: int) -> int | None:
    """Return the index of the `}`, `:` or conversion that ends the expression, or None."""
    depth = 0
    while at < len(template):
        char = template[at]
        if char in "'\"":
            quote = char * 3 if template.startswith(char * 3, at) else char
            at = _end_of_string(template, at + len(quote), quote)
            continue
        if not depth and (char in "}:" or (char == "!" and _is_conversion(template, at))):
            return at
        depth += (char in _OPENING) - (char in _CLOSING)
        at += 1
    return None


def _end_of_string(template: str, at: int, quote: str) -> int:
    while at < len(template) and not template.startswith(quote, at):
        at += 2 if template[at] == "\\" else 1
    return at + len(quote)


def _is_conversion(template: str, at: int) -> bool:
    return template[at + 1 : at + 2] in _BY_CONVERSION and template[at + 2 : at + 3] in ("}", ":")
