"""Define a problem of a compile: what a report, a diagnostic and a row of the tree are written from."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, TypeVar

from msgspec import Struct, field

from dynascope.facts import model
from dynascope.facts.break_message import without_numbers
from dynascope.facts.distinct import Distinct
from dynascope.facts.file_names import short_name

NoteKind = Literal["led to", "calls", "caller", "more callers", "more chains", "guard", "symbol", "compile", "root"]
LONGEST_TITLE = 70
_LEAST_TITLE = 45
"""A title is cut between words unless that makes it shorter than this."""
_LONGEST_LINE = 200
_GRAPH_INPUT = re.compile(r"\b[lLgG]_\w*_\b")
F = TypeVar("F", bound=model.Fact | model.Compile | Distinct[Any])


class Place(Struct, frozen=True, omit_defaults=True):
    """A line, and the number of the source that it was recorded in; 0 if it is not known."""

    path: str
    line: int
    source: int = 0


class Note(Struct, kw_only=True):
    """A line below a problem: a caller, a guard's line, another break that it led to, one compile."""

    kind: NoteKind
    text: str
    """`called from`, `led to`, `does not match 0/0: n == 2`; its place, and then `subject`, come after it."""
    subject: str = ""
    place: Place | None = None
    compiles: list[int] = field(default_factory=list)
    """Those of which it is true; none where it is true of all."""
    is_cause: bool = True
    """Whether the compile, or refused call, is there because of the problem."""
    details: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)


class Problem(Struct, kw_only=True):
    """What went wrong in one or more compiles; equal facts are one."""

    id: str
    """It stays the same in the next run, and when lines above are edited: `GB0170-5f3a91c2`."""
    kind: str
    """The name of its kind, see `kinds`."""
    cause: str
    """What is to blame, in a few words: `Data-dependent branching`, `x.size()[0]`."""
    title: str
    """One line of at most `LONGEST_TITLE` characters that has the cause, or its beginning, in it."""
    place: Place
    subject: str = ""
    """The call, method, operator or error at which a graph broke: `time.time()`; "" where the cause names it."""
    function: str = ""
    function_line: int = 0
    """The first line of the function; 0 for problems of a line."""
    resumes_at: int | None = None
    """The line from which on it is about the function; None for the whole."""
    effect: str = ""
    """What comes of it, to be read after the cause."""
    statement: str = ""
    """All of it in one sentence, or torch's own text."""
    details: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    compiles: list[int] = field(default_factory=list)
    count: int = 1
    """How often it happened."""
    leaves: list[int] = field(default_factory=list)
    """The compiles whose function, or the rest of it, a graph break leaves uncompiled."""
    leads_to: list[int] = field(default_factory=list)
    """The compiles of functions that are compiled by themselves because of a graph break."""
    calls: list[int] = field(default_factory=list)
    """The compiles in `leads_to` of functions that are called on a line at which the graph breaks."""
    registry_id: str | None = None
    is_error: bool = False
    root: str = ""
    """The id of the problem that this one follows from."""

    @property
    def about(self) -> str:
        """Return the cause, after the subject where there is one."""
        return f"{self.subject}: {self.cause}" if self.subject else self.cause

    @property
    def callers(self) -> list[Place]:
        """Return the lines from which it was reached, innermost first."""
        return [note.place for note in self.notes if note.kind == "caller" and note.place is not None]

    @property
    def section(self) -> str:
        """Return the kind below whose heading it is."""
        return "recompile" if self.kind in ("recompileLimit", "alsoFailed") else self.kind

    @property
    def because(self) -> str:
        """Return the words that come before the cause of a recompile."""
        if self.section != "recompile":
            return ""
        return "failed other compiles only: " if self.kind == "alsoFailed" else "because of "

    @property
    def whose(self) -> str:
        """Return the function that it is of, or part of one; `in forward` for a problem of a line."""
        if self.function and self.kind in ("graphBreak", "willRecompile"):
            return f"in {self.function}"
        return named(self.function, self.resumes_at)


class Positions:
    """The lines at which facts are now: those where they were recorded, unless a subclass knows better."""

    def now(self, fact: model.Fact | model.Compile) -> int | None:
        """Return the present line of a fact; None where it is gone."""
        return fact.line

    def line(self, then: int) -> int | None:
        """Return the present line of a recorded one."""
        return then


RECORDED = Positions()


class Identities:
    """Make ids of problems from what does not change between runs, such as the text of the traced line."""

    def __init__(self, line_hashes: Callable[[int], Sequence[bytes]]) -> None:
        """Take what returns the hashes of a source's lines."""
        self._read = line_hashes
        self._hashes: dict[int, Sequence[bytes]] = {}
        self._given: dict[str, int] = {}

    def of(self, kind: str, place: Place, function: str, what: str, name: str = "") -> str:
        """Return an id that no other problem has.

        `place` is as it was recorded, and `what` tells problems of one line apart. Of the path the file's name counts
        alone: in another checkout the id is the same.
        """
        if place.source not in self._hashes:
            self._hashes[place.source] = self._read(place.source) if place.source else []
        hashes = self._hashes[place.source]
        line = hashes[place.line - 1] if 0 < place.line <= len(hashes) else b""
        told = "\0".join([kind, os.path.basename(place.path), function, what])
        digest = zlib.crc32(line, zlib.crc32(told.encode(errors="replace")))
        made = f"{name or kind}-{digest:08x}"
        self._given[made] = count = self._given.get(made, 0) + 1
        return made if count == 1 else f"{made}~{count}"


def sentence_of(text: str) -> str:
    """Return a text with a capital letter in front."""
    return f"{text[:1].upper()}{text[1:]}"


def same_text(text: str) -> str:
    """Return what equal problems have in common of torch's text about them.

    That is its first paragraph, without the names of nodes and graph inputs: those of a traced computation, which
    torch lists below it, are others in each compile.
    """
    return without_numbers(_GRAPH_INPUT.sub("#", text.partition("\n\n")[0]))


def where(path: str, line: int) -> str:
    """Return `model.py:13`, or `In [3]:5` in a notebook."""
    return f"{short_name(path) or '<no file>'}:{line}"


def named(function: str, resumes_at: int | None) -> str:
    """Return the name of a compiled function, or of its part after a graph break."""
    shown = shown_function(function)
    return shown if resumes_at is None else f"what follows line {resumes_at} of {shown}"


def shown_function(qualified_name: str) -> str:
    """Return a function's qualified name without the functions around it.

    Of `build.<locals>.Block.forward` it is `Block.forward`.
    """
    return qualified_name.rpartition("<locals>.")[2]


def fitting(*titles: str) -> str:
    """Return the first title that is short enough, or the beginning of the last one."""
    lines = [" ".join(each.split()) for each in titles]
    beginning = lines[-1][: LONGEST_TITLE - 1]
    whole_words = beginning.rpartition(" ")[0]
    beginning = whole_words if len(whole_words) >= _LEAST_TITLE else beginning
    return next((each for each in lines if len(each) <= LONGEST_TITLE), f"{beginning.rstrip()}…")


def one_line(*texts: str) -> str:
    """Return texts that may have many lines in one of bearable length.

    The longest text is cut where they do not fit.
    """
    lines = [" ".join(each.split()) for each in texts]
    surplus = len(" ".join(lines)) - _LONGEST_LINE
    if surplus > 0:
        longest = max(lines, key=len)
        lines[lines.index(longest)] = f"{longest[: max(0, len(longest) - surplus)]}…"
    return " ".join(lines)


def first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def at_lines(found: Iterable[F], positions: Positions, key: Callable[[F], Hashable]) -> list[tuple[int, list[F]]]:
    """Return groups of equal facts, each with its present line.

    They are in the order of their first facts. Facts of which the line is gone are left out.
    """
    groups: dict[Hashable, tuple[int, list[F]]] = {}
    for each in found:
        fact = each.fact if isinstance(each, Distinct) else each
        line = positions.now(fact)
        if line is not None:
            groups.setdefault((fact.path, line, key(each)), (line, []))[1].append(each)
    return list(groups.values())


def compiles_of(found: Iterable[Distinct[Any]]) -> list[int]:
    """Return the numbers of the compiles that have these facts."""
    return list(dict.fromkeys(number for each in found for number in each.compiles))


_NAMED = 4
"""The maximum number of texts that are listed."""


def listed(texts: Sequence[str]) -> str:
    """Return at most four texts as `a, b and c`; the others are counted."""
    more = len(texts) - _NAMED
    *others, last = [*texts[:_NAMED], f"{more} more"] if more > 1 else texts
    return f"{', '.join(others)} and {last}" if others else last
