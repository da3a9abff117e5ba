"""Define a row of the tree, and rows for single facts."""

from __future__ import annotations

import os
from typing import Literal

from dynascope.facts.recompiles.causes import Cause, entries_by_compile, entry_text, mismatch
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.varying import advice, sentence
from dynascope.report.breaks import Break
from dynascope.report.callers import callers
from dynascope.report.sources import named
from dynascope.report.summary import BackendFailed, Specialized, Varying
from msgspec import Struct

Severity = Literal["error", "warning", "information", "success", ""]
_ENTRIES = 100
"""The most compiles that are listed below a cause."""
_NAMED = 3
"""The most compiles that are named in a description."""


class Place(Struct, omit_defaults=True):
    """A recorded line, and the number of the source that it was recorded in; 0 if it is not known."""

    path: str
    line: int
    source: int = 0


class Document(Struct):
    """A read-only text that a row opens: what it is asked for with, and the name of its editor."""

    id: str
    name: str


class Row(Struct, kw_only=True, omit_defaults=True, rename="camel"):
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
    children: list[Row] = []
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


def where(path: str, line: int) -> str:
    """Return `model.py:13`."""
    return f"{os.path.basename(path) or '<no file>'}:{line}"


def of_compiles(names: list[str]) -> str:
    """Return `0/0, 0/1`, or `×12 compiles`."""
    known = [each for each in names if each]
    return f"×{len(known)} compiles" if len(known) > _NAMED else ", ".join(known)


def hint_rows(hints: list[str]) -> list[Row]:
    return [Row(key=f"hint:{hint}", label=hint, tooltip=hint, icon="lightbulb") for hint in hints]


def break_row(each: Break) -> Row:
    """Return a graph break; below it are hints, what it led to and its callers."""
    fact = each.fact
    title = " ".join(filter(None, [fact.registry_id, fact.type]))
    led_to = [
        Row(
            key=f"led to:{other.message.title}",
            label=f"Led to {other.message.type}",
            description=of_compiles(other.compiles),
            tooltip=other.message.explanation,
            icon="arrow-right",
        )
        for other in each.led_to
    ]
    frames = [
        Row(key=f"callers:{place}", label=f"… {frame} more callers …", icon="debug-stackframe")
        if isinstance(frame, int)
        else Row(
            key=f"caller:{frame.path}:{frame.line}",
            label=f"Called from {frame.function}",
            description=where(frame.path, frame.line),
            icon="debug-stackframe",
            place=at(frame.path, frame.line),
        )
        for place, frame in enumerate(callers(fact))
    ]
    return Row(
        key=f"break:{fact.path}:{fact.line}:{fact.type}:{fact.effect}",
        label=fact.type,
        description=f"{where(fact.path, fact.line)} in {fact.function}  {of_compiles(each.compiles)}".rstrip(),
        tooltip="\n\n".join(filter(None, [f"{title}: {each.effect}.", fact.explanation])),
        icon="error" if fact.effect == "raised" else "warning",
        severity="error" if fact.effect == "raised" else "warning",
        place=at(fact.path, fact.line, fact.source),
        children=[*hint_rows(fact.hints), *led_to, *frames],
    )


def cause_row(cause: Cause, names: dict[int, str]) -> Row:
    """Return a cause of recompiles; below it are hints, lines that guard it, and the compiles."""
    fact = cause.first
    function = named(fact.function, cause.resumes_at)
    line = cause.resumes_at or fact.line
    shown = cause.others if cause.is_aside else cause.compiles
    name = readable(cause.name_of_values)
    met = f"met {'' if name in ('', cause.about) else f'{name}: '}{', '.join(cause.values)}" if cause.values else ""
    told = f"{function} was compiled again because of {cause.about}{f': {met}' if met else ''}."
    if cause.limit_reached:
        told = f"The recompile limit is reached. {told}"
    elif cause.is_aside:
        told = f"{cause.about} failed only other compiles of {function} than what it was compiled again for."
    origins = dict.fromkeys((each.guard_path, each.guard_line) for each in cause.entries)
    guards = [
        Row(
            key=f"guard:{path}:{number}",
            label="The guard is from",
            description=where(path, number),
            icon="shield",
            place=at(path, number),
        )
        for path, number in origins
        if path and number
    ]
    entries = [
        Row(
            key=f"compile:{number}",
            label=f"{names.get(number, '')}{' was refused' if failed[0].limit_reached else ''}",
            description=mismatch(failed),
            tooltip="\n".join(f"{entry_text(each)}{f'; met {each.value}' if each.value else ''}" for each in failed),
            icon="sync",
            place=at(fact.path, line, fact.source),
            is_lazy=True,
        )
        for number, failed in entries_by_compile(cause)[:_ENTRIES]
    ]
    of = of_compiles([names.get(each, "") for each in shown])
    return Row(
        key=f"cause:{fact.path}:{line}:{function}:{cause.about}",
        label=cause.about,
        description="  ".join(filter(None, [met, f"{function} {where(fact.path, line)}", of])),
        tooltip=told,
        icon="warning" if cause.limit_reached else "sync",
        severity="warning" if cause.limit_reached else "" if cause.is_aside else "information",
        place=at(fact.path, line, fact.source),
        children=[*hint_rows(cause.hints), *guards, *entries],
    )


def varying_row(each: Varying) -> Row:
    """Return a guard that will not hold at a later call; below it is what helps."""
    fact = each.fact
    return Row(
        key=f"varying:{fact.path}:{fact.line}:{fact.kind}:{fact.expression}",
        label=f"{readable(fact.expression)} will not be {fact.value}",
        description=f"{where(fact.path, fact.line)} in {fact.function}  {of_compiles(each.compiles)}".rstrip(),
        tooltip=sentence(fact),
        icon="history",
        severity="information",
        place=at(fact.path, fact.line, fact.source),
        children=hint_rows([advice(fact)]),
    )


def specialized_row(each: Specialized) -> Row:
    fact = each.fact
    name = ", ".join(map(readable, fact.origins)) or fact.symbol
    return Row(
        key=f"specialized:{fact.path}:{fact.line}:{name}:{fact.value}",
        label=f"{name} = {fact.value}",
        description=f"{where(fact.path, fact.line)}  {of_compiles(each.compiles)}".rstrip(),
        tooltip=fact.reason,
        icon="pin",
        severity="information",
        place=at(fact.path, fact.line, fact.source),
    )


def backend_failure_row(failed: BackendFailed) -> Row:
    each = failed.fact
    return Row(
        key=f"backend:{each.compile}:{each.path}:{each.line}:{each.exception}:{each.message}",
        label=f"{each.backend} raised {each.exception}",
        description=f"{where(each.path, each.line)}  {of_compiles(failed.compiles)}".rstrip(),
        tooltip=each.message.strip(),
        icon="error",
        severity="error",
        place=at(each.path, each.line, each.source),
    )


def line_row(path: str, line: int, seconds: float, code: str) -> Row:
    """Return a line with Dynamo's time to trace it."""
    return Row(
        key=f"line:{path}:{line}",
        label=f"{1000 * seconds:.1f} ms",
        description=f"{where(path, line)}  {code}",
        icon="watch",
        place=at(path, line),
    )
