"""Define a row of the tree and its key, and rows for single facts.

What reads a key raises msgspec.DecodeError for one that no row has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec
from dynascope.explain.compiles import several
from dynascope.explain.kinds import KINDS
from dynascope.explain.problem import Note, NoteKind, Place, Problem, where
from dynascope.explain.ranking import LEAST_COST
from dynascope.facts.counts import seconds
from msgspec import Meta, Struct

Number = Annotated[int, Meta(ge=0, lt=1 << 62)]
"""The number of a row in the store; SQLite knows no greater one."""


def launch_of(key: str) -> tuple[str, str]:
    """Return the folder of the store and the name of the launch that its key names."""
    folder, launch = msgspec.json.decode(key, type=tuple[str, str])
    return folder, launch


def key_of_launch(folder: str, launch: str) -> str:
    """Return the key of a launch in the store of a folder."""
    return msgspec.json.encode((folder, launch)).decode()


def number_of(text: str) -> int:
    """Return the number in a key."""
    return msgspec.convert(text, Number, strict=False)


Severity = Literal["error", "warning", "information", "success", ""]
_COMPILES = 100
"""The most compiles that are listed below a cause."""
_ICONS: dict[NoteKind, str] = {"led to": "arrow-right", "guard": "shield", "root": "arrow-up"}


class Document(Struct):
    """A read-only text that a row opens: what it is asked for with, and the name of its editor."""

    id: str
    name: str


class ExplorerRow(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    key: str
    """Its name among the rows beside it: `compile:17`. A client sends the keys from the top to have the rows below."""
    label: str
    description: str = ""
    tooltip: str = ""
    icon: str = ""
    """A name of VS Code's icons."""
    severity: Severity = ""
    place: Place | None = None
    document: Document | None = None
    children: list[ExplorerRow] = []
    """The rows below it, where they are sent with it."""
    is_lazy: bool = False
    """Whether the rows below it must be asked for."""
    is_open: bool = False
    """Whether it is open when it is first shown."""
    brief: str = ""
    """What is said of a run where there is little room, as in a status bar."""


def at(path: str, line: int, source: int = 0) -> Place | None:
    """Return the place; None for facts without one."""
    return Place(path, line, source) if path and not path.startswith("<") and line else None


def problem_row(
    each: Problem, names: Mapping[int, str], follow: Iterable[Problem] = (), time_due: float = 0.0
) -> ExplorerRow:
    """Return a problem; below it are remedies, what follows from it, and notes such as callers.

    `names` are those of compiles; one that has none is not named. `time_due`: the seconds that it costs.
    """
    kind = KINDS["failedCompile" if each.is_error else each.kind]
    place = at(each.place.path, each.place.line, each.place.source)
    at_place = where(each.place.path, each.place.line) if each.place.line else ""
    is_about_function = each.section == "recompile"
    sentence = each.effect if is_about_function else each.cause if each.subject else ""
    cost = seconds(time_due) if time_due >= LEAST_COST else ""
    of = several(names.get(number, "") for number in each.compiles)
    compiles = [note for note in each.notes if note.kind == "compile"][:_COMPILES]
    others = [note for note in each.notes if note.kind != "compile"]
    details = each.details if each.kind == "graphBreak" or is_about_function else []
    return ExplorerRow(
        key=f"{each.kind}:{each.id}",
        label="  ".join(filter(None, [at_place, each.subject or each.cause])),
        description="  ".join(filter(None, [sentence, each.whose, of, cost])),
        tooltip="\n\n".join(filter(None, [each.statement, *details])),
        icon=kind.icon,
        severity=kind.severity,
        place=place,
        children=[
            *(ExplorerRow(key=f"hint:{hint}", label=hint, tooltip=hint, icon="lightbulb") for hint in each.remedies),
            *(_following(problem_row(one, names)) for one in follow),
            *(_note_row(note, names) for note in others),
            *(_compile_row(note, each.place, names) for note in compiles),
        ],
    )


def _following(row: ExplorerRow) -> ExplorerRow:
    """Return the row of a problem that is below its root, without the note that names the root."""
    row.children = [each for each in row.children if not each.key.startswith("root:")]
    return row


def _note_row(note: Note, names: Mapping[int, str]) -> ExplorerRow:
    place = at(note.place.path, note.place.line, note.place.source) if note.place is not None else None
    of = several(names.get(number, "") for number in note.compiles)
    text = f"{note.text} {note.subject}".strip()
    return ExplorerRow(
        key=f"{note.kind}:{note.text}:{note.subject}:{place.path if place else ''}:{place.line if place else ''}",
        label=f"{text[0].upper()}{text[1:]}",
        description="  ".join(filter(None, [where(place.path, place.line) if place else "", of])),
        tooltip="\n".join(note.details),
        icon=_ICONS.get(note.kind, "debug-stackframe"),
        place=place,
    )


def _compile_row(note: Note, place: Place, names: Mapping[int, str]) -> ExplorerRow:
    number = note.compiles[0]
    return ExplorerRow(
        key=f"compile:{number}",
        label=names.get(number, ""),
        description=note.text,
        tooltip="\n".join(note.details),
        icon="sync",
        place=at(place.path, place.line, place.source),
        is_lazy=True,
    )
