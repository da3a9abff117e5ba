"""Read the texts of breakpoints: names of functions, hit conditions, and logMessages with expressions.

debugpy and the agent share one hit count per breakpoint: the agent counts the passes that Dynamo traces.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple


def names_function(pattern: str, qualified_name: str) -> bool:
    """Whether `pattern` names a function: its qualified name, its end after a dot, or a glob."""
    return any(
        fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}")
        for name in _spellings(qualified_name)
    )


def names_function_of(pattern: str, qualified_name: str, path: str) -> bool:
    """Whether `pattern` names a function of this file; its module or package may come before."""
    return names_function(pattern, qualified_name) or _names_in_module(pattern, qualified_name, path)


def _names_in_module(pattern: str, qualified_name: str, path: str) -> bool:
    """Whether `pattern` is a name as one imports it: `package.module.Class.method`.

    The module may be left out after its package, as in `torch.nn.Linear.forward`.
    """
    folders = f".{'.'.join(PurePath(path).with_suffix('').parts)}."
    words = pattern.split(".")
    return any(
        f".{'.'.join(words[:count])}." in folders and fnmatch.fnmatchcase(name, ".".join(words[count:]))
        for name in _spellings(qualified_name)
        for count in range(1, len(words))
    )


def _spellings(qualified_name: str) -> set[str]:
    return {qualified_name, qualified_name.replace(".<locals>", "")}


def counted(id: int, condition: str | None, hit_condition: str | None, log_message: str | None = None) -> str | None:
    """Return debugpy's condition for the agent's breakpoint `id`; it gets no hit condition.

    pydevd stops when either of the two is true, and also counts passes at which the condition is false.
    """
    if not hit_condition and not (condition and log_message):
        return condition or None
    counts = f"__import__('sys').modules['dynascope.agent.breakpoints.hits'].stops({id})"
    return f"({condition}\n) and {counts}" if condition else counts


_END = re.compile(r"(?:!([rsa]))?([}:])")
"""What may end an expression; it does if what is before it is one."""
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


def logged_by_debugpy(template: str) -> str:
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
    ends = list(_END.finditer(template, start))
    if not ends:
        return None
    end = next((each for each in ends if _is_python(template[start : each.start()])), ends[0])
    text, conversion, at = template[start : end.start()], end[1] or "", end.end()
    if end[2] == "}":
        return Expression(text, conversion), at
    depth, begin = 1, at
    for at in range(begin, len(template)):
        depth += {"{": 1, "}": -1}.get(template[at], 0)
        if not depth:
            return Expression(text, conversion, template[begin:at]), at + 1
    return None


def _is_python(text: str) -> bool:
    try:
        ast.parse(f"({text})", mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
