"""Say when everything in a run happened: its compiles, torch's phases in each, and what went wrong, for a picture."""

from __future__ import annotations

from collections import defaultdict

from dynascope.explain.compiles import LATER, LATER_MADE, restarted, title
from dynascope.explain.details import effect
from dynascope.explain.failures import raised
from dynascope.explain.problem import Place, first_line, named
from dynascope.explain.recompiles import at_once
from dynascope.facts import model
from dynascope.facts.compiler_parts import part_of
from dynascope.facts.process_names import process_name, program_name
from dynascope.facts.profile import ATTEMPT, NO_PARENT, Phase, Profile
from dynascope.facts.reader import Reader
from msgspec import Struct

from dynascope_lsp.explorer.launch_rows import when
from dynascope_lsp.explorer.rows import at

_TRACING = "bytecode_tracing"


class Mark(Struct, rename="camel"):
    """Something that happened at one time of a compile, in seconds since the run's first compile began."""

    kind: str
    text: str
    at: float
    place: Place | None


class Span(Struct, kw_only=True, rename="camel"):
    """A compile, or what torch compiled for it later."""

    compile: int
    run: int
    name: str
    detail: str
    status: str
    began: float
    """Seconds since the run's first compile began."""
    seconds: float
    phases: list[tuple[int, int, float, float]]
    """The number in `names`, the number of the phase around it in this list or -1, the beginning and the seconds."""
    marks: list[Mark]
    place: Place | None


class LaunchTimeline(Struct):
    title: str
    processes: dict[int, str]
    """The processes that compiled, by the numbers of their runs."""
    names: list[tuple[str, str]]
    """torch's name of a phase, and the part of the compiler that it is of."""
    spans: list[Span]
    """As they began."""


def timeline(reader: Reader, launch: str) -> LaunchTimeline | None:
    """Return the timeline of a run; None if nothing was compiled in it."""
    runs = {run.id: run for run in reader.runs() if run.launch == launch}
    happened = _facts_of_compiles(reader, launch)
    compiles = [each for each in reader.compiles(launch) if each.status != "skipped" or happened.get(each.id)]
    if not compiles:
        return None
    names: dict[tuple[str, str], int] = {}
    spans = []
    for each in compiles:
        own, *later = reader.profiles(each.id) or [Profile(each.began, [], [])]
        spans.append(_span(each, own, names, happened[each.id]))
        spans += [_later(each, profile, names) for profile in later]
    first = min(span.began for span in spans)
    for span in spans:
        span.began -= first
        span.phases = [(name, parent, round(began - first, 6), spent) for name, parent, began, spent in span.phases]
        for mark in span.marks:
            mark.at -= first
    program = min(runs.values(), key=lambda run: run.began)
    return LaunchTimeline(
        title=f"Timeline of {program_name(program)}, {when(program.began)}",
        processes={number: process_name(runs[number]) for number in sorted({each.run for each in compiles})},
        names=list(names),
        spans=sorted(spans, key=lambda span: span.began),
    )


def _span(each: model.Compile, profile: Profile, names: dict[tuple[str, str], int], facts: list[model.Fact]) -> Span:
    attempts = [phase for phase in profile.phases if phase.name.startswith(ATTEMPT)]
    what = named(each.function, each.resumes_at)
    restarts = [
        Mark("restart", restarted(what, number), each.began + phase.began, None)
        for number, phase in enumerate(attempts[1:], start=1)
    ]
    traced = [phase.began + phase.seconds for phase in profile.phases if phase.name == _TRACING]
    end_of_trace = each.began + (max(traced) if traced else each.seconds)
    marks = [mark for fact in facts if (mark := _mark(fact, each, end_of_trace)) is not None]
    if each.failure:
        end = each.began + each.seconds
        marks.append(Mark("failed", first_line(each.failure), end, at(each.path, each.line, each.source)))
    return Span(
        compile=each.id,
        run=each.run,
        name=title(each, each.compile_id),
        detail=first_line(each.reason),
        status=each.status,
        began=each.began,
        seconds=each.seconds,
        phases=_numbered(profile.phases, each.began, names),
        marks=sorted([*marks, *restarts], key=lambda mark: mark.at),
        place=at(each.path, each.resumes_at or each.line, each.source),
    )


def _later(each: model.Compile, profile: Profile, names: dict[tuple[str, str], int]) -> Span:
    """Return what torch compiled after the compile had ended: its backward, its kernels."""
    return Span(
        compile=each.id,
        run=each.run,
        name=f"{title(each, each.compile_id)} {LATER}",
        detail=LATER_MADE,
        status="later",
        began=profile.began,
        seconds=max((phase.began + phase.seconds for phase in profile.phases), default=0.0),
        phases=_numbered(profile.phases, profile.began, names),
        marks=[],
        place=at(each.path, each.resumes_at or each.line, each.source),
    )


def _numbered(
    phases: list[Phase], start: float, names: dict[tuple[str, str], int]
) -> list[tuple[int, int, float, float]]:
    around: list[list[str]] = []
    found = []
    for phase in phases:
        around.append([*(around[phase.parent] if phase.parent != NO_PARENT else []), phase.name])
        number = names.setdefault((phase.name, part_of(around[-1])), len(names))
        found.append((number, phase.parent, start + phase.began, round(phase.seconds, 6)))
    return found


def _facts_of_compiles(reader: Reader, launch: str) -> defaultdict[int, list[model.Fact]]:
    found: defaultdict[int, list[model.Fact]] = defaultdict(list)
    for kind in ("recompiles", "graph_breaks", "backend_failures"):
        for fact in reader.facts(kind, launch):
            found[fact.compile].append(fact)
    return found


def _mark(fact: model.Fact, each: model.Compile, end_of_trace: float) -> Mark | None:
    """Return the mark of a fact: a recompile is known as it begins, a break at the end."""
    place = at(fact.path, fact.line, fact.source)
    match fact:
        case model.Recompile(limit_reached=True):
            return Mark("limit", at_once(fact), each.began, place)
        case model.Recompile():
            return Mark(
                "recompile", at_once(fact), each.began, at(fact.guard_path or "", fact.guard_line or 0) or place
            )
        case model.GraphBreak():
            return Mark(
                "graph break",
                f"{fact.type}: {effect(fact.effect, each.status == 'empty', resumes_at=each.resumes_at)}",
                end_of_trace,
                place,
            )
        case model.BackendFailure():
            return Mark("failed", raised(fact), each.began + each.seconds, place)
    return None
