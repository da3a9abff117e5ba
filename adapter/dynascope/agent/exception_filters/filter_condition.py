"""The condition of an exception filter: terms between commas, all of which must be true.

GB0059                      a graph break with this id of PyTorch's registry; several ids: any of them
my code | library code      whether the innermost frame is user code
model.py  |  model.py:36    a frame is in this file, or at this line
"size mismatch"             the explanation contains this text
first chance                graphBreak: also breaks that Dynamo may handle, as soon as they are raised
committed                   graphBreak: only what splits the graph, skips the frame or is raised (the default)
x.shape[0] > 8              last, any Python expression, evaluated in the innermost frame as a breakpoint's condition
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dynascope.agent.breakpoints.hits import check_condition
from dynascope.agent.program.user_code import real_path
from dynascope.explain.kinds import FILTERS

_REGISTRY_ID = re.compile(r"gb(\d{1,6})", re.IGNORECASE)
_PLACE = re.compile(r"(?P<path>[^\"']*\.py)(:(?P<line>\d+))?")
_TEXT = re.compile(r"(\"[^\"]*\"|'[^']*')")
_WORDS = ("my code", "library code", "first chance", "committed")
_OF_GRAPH_BREAKS = ("first chance", "committed")


@dataclass(frozen=True)
class Condition:
    """A parsed condition. Without any term it is always true."""

    ids: frozenset[str] = frozenset()
    places: tuple[tuple[str, int | None], ...] = ()
    in_my_code: bool | None = None
    first_chance: bool = False
    texts: tuple[str, ...] = ()
    expression: str | None = None

    def allows_places(self, places: Sequence[tuple[str, int]]) -> bool:
        """Whether a frame is at one of the places, given the (real path, line) of each frame."""
        return not self.places or any(
            (path == file or path.endswith("/" + file)) and (at is None or at == line)
            for file, at in self.places
            for path, line in places
        )

    def allows_text(self, text: str) -> bool:
        folded = text.casefold()
        return all(part.casefold() in folded for part in self.texts)


def parse(text: str | None, filter_id: str) -> Condition:
    """Parse a condition; None has no terms. Raises ValueError with a message for the user."""
    ids: set[str] = set()
    places: list[tuple[str, int | None]] = []
    texts: list[str] = []
    words: set[str] = set()
    expression: str | None = None
    rest = (text or "").strip()
    while rest:
        term, remainder = next(_splits(rest))
        word = " ".join(term.lower().split())
        if (match := _REGISTRY_ID.fullmatch(term)) is not None:
            if not FILTERS[filter_id].takes_registry_ids:
                raise ValueError(f"{term}: registry ids are of graph breaks, not of {filter_id}.")
            ids.add(f"GB{int(match[1]):04}")
        elif word in _WORDS:
            if word in _OF_GRAPH_BREAKS and filter_id != "graphBreak":
                raise ValueError(f"`{word}` is a term of graphBreak, not of {filter_id}.")
            words.add(word)
        elif (match := _PLACE.fullmatch(term)) is not None:
            path = real_path(match["path"]) if os.path.isabs(match["path"]) else match["path"]
            places.append((path, int(match["line"]) if match["line"] else None))
        elif _TEXT.fullmatch(term) is not None:
            texts.append(term[1:-1])
        else:
            expression, remainder = rest, ""
            _check_expression(expression)
        rest = remainder
    for one, other in (("my code", "library code"), ("first chance", "committed")):
        if {one, other} <= words:
            raise ValueError(f"`{one}` and `{other}` exclude each other.")
    in_my_code = True if "my code" in words else False if "library code" in words else None
    return Condition(frozenset(ids), tuple(places), in_my_code, "first chance" in words, tuple(texts), expression)


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before the first comma outside quotes, and the text after it."""
    quote = ""
    for i, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == ",":
            yield text[:i].strip(), text[i + 1 :].strip()
            return
    yield text.strip(), ""


def _check_expression(text: str) -> None:
    try:
        check_condition(text)
    except ValueError as error:
        raise ValueError(
            f'{text!r} is neither a term of a filter\'s condition (GB0059, `my code`, model.py:36, "text", …) '
            f"nor a Python expression: {error.__cause__ or error}."
        ) from error
    if isinstance(ast.parse(text.strip(), mode="eval").body, ast.Tuple):
        raise ValueError(f"{text!r}: an expression is the last term; the text before its comma is not a term.")


@dataclass(frozen=True)
class ActiveFilter:
    """A filter that is on, with the id of its breakpoint."""

    id: int
    filter_id: str
    condition: Condition
