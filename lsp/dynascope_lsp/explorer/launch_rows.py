"""Make the rows of launches, the sections below one, and what is new in one against the one before of its program."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Hashable

from dynascope.explain import ranks
from dynascope.explain.compiles import NO_BREAKS, NOTHING, went_wrong
from dynascope.explain.not_recorded import KILLED, NOT_ENDED, ending
from dynascope.explain.of_launch import ProblemsOfLaunch
from dynascope.explain.problem import Problem
from dynascope.explain.where_time_went import in_parts
from dynascope.facts import model
from dynascope.facts.counts import counted, seconds
from dynascope.facts.current_compiles import program_of
from dynascope.facts.launches import Launch, launches
from dynascope.facts.reader import Reader
from msgspec import Struct

from dynascope_lsp.explorer.rows import ExplorerRow, Severity, key_of_launch, problem_row


def launch_row(key: str, launch: Launch, is_newest: bool, workspace_folder: str = "") -> ExplorerRow:
    """Return a launch with its program, its time, how long it compiled and what went wrong."""
    run = launch.first
    icon, severity = _icon(launch)
    state, why = _state(launch)
    time_spent = in_parts(launch.whole, launch.parts) if launch.compiling else ""
    problems = ", ".join(_problems(launch))
    of_ranks = ranks.number_of(launch.compiling)
    parts = [workspace_folder, when(run.began), state, time_spent, problems, of_ranks, _torch(run)]
    details = [
        run.program,
        f"in {run.folder}{'' if run.host == platform.node() else f' on {run.host}'}",
        time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began)),
        f"{_torch(run)}, Python {run.python_version}",
        ranks.processes(launch.compiling),
        f"{counted(launch.compiles, 'compile')}, {counted(launch.graphs, 'graph')}, {problems}",
        time_spent,
        why,
    ]
    return ExplorerRow(
        key=key,
        label=run.program,
        description=" · ".join(filter(None, parts)),
        tooltip="\n".join(filter(None, details)),
        icon=icon,
        severity=severity,
        is_lazy=bool(launch.compiling),
        is_open=is_newest and bool(launch.compiling),
        brief="recording" if launch.is_running else problems,
    )


def section(key: str, label: str, count: int | None, icon: str, what: str = "") -> ExplorerRow:
    """Return a row that only holds others: so many, of what its label does not say."""
    told = "" if count is None else counted(count, what) if what else str(count)
    return ExplorerRow(key=key, label=label, description=told, icon=icon, is_lazy=count != 0)


def _state(launch: Launch) -> tuple[str, str]:
    """Return whether it runs or how it ended, and why; "" where it ended as it should."""
    if launch.is_running:
        return "running", ""
    told = ending(launch.runs, {each.id for each in launch.compiling or launch.runs})
    if told != NOT_ENDED:
        return "", told
    return ("ended early", KILLED) if launch.first.host == platform.node() else ("not ended", told)


def _problems(launch: Launch) -> list[str]:
    if not launch.compiling:
        return [NOTHING]
    return went_wrong(launch.failed, launch.breaks, launch.recompiles) or [NO_BREAKS]


def _icon(launch: Launch) -> tuple[str, Severity]:
    if launch.is_running:
        return "loading~spin", ""
    if launch.failed:
        return "error", "error"
    if launch.breaks:
        return "warning", "warning"
    return ("pass", "success") if launch.compiling else ("circle-slash", "")


def _torch(run: model.Run) -> str:
    return f"torch {run.torch_version}"


def when(began: float) -> str:
    """Return a time, without the date if it is today's."""
    then = time.localtime(began)
    is_today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", then)


_COMPARED = ("graphBreak", "recompile")


class RunOfProgram(Struct):
    """Another launch of a program, with whose graphs a graph can be compared."""

    key: str
    name: str
    """Its program and when it was."""


def runs_of_program(reader: Reader, folder: str, name: str) -> tuple[str, list[RunOfProgram]]:
    """Return the name of a launch, and the others of its program.

    Those before it come first, the newest of them at the top; then those after it.
    """
    own, before, after = of_program(launches(reader), name)
    others = [RunOfProgram(key_of_launch(folder, each.name), _named(each)) for each in (*before, *after)]
    return (_named(own), others) if own is not None else ("", [])


def of_program(found: list[Launch], name: str) -> tuple[Launch | None, list[Launch], list[Launch]]:
    """Return a launch, and other launches of its program that compiled something.

    `found` are all launches, the newest first. Those before it come first, then those after it, each newest first.
    """
    place = next((place for place, each in enumerate(found) if each.name == name), None)
    if place is None:
        return None, [], []
    own = found[place]
    same = [each.compiling and program_of(each.first) == program_of(own.first) for each in found]
    before = [each for each, is_same in zip(found[place + 1 :], same[place + 1 :], strict=True) if is_same]
    after = [each for each, is_same in zip(found[:place], same[:place], strict=True) if is_same]
    return own, before, after


def _named(launch: Launch) -> str:
    began = launch.first.began
    return (
        f"{launch.first.program}, {when(began)}{time.strftime(':%S', time.localtime(began))}"  # two in a minute differ
    )


def rows_against(reader: Reader, now: Launch, before: Launch) -> list[ExplorerRow]:
    """Return the sums of both launches, then the breaks and causes that only one of them has.

    They are told apart by their functions and kinds: lines may have moved between the two.
    """
    sums = [
        (counted(now.compiles, "compile"), str(before.compiles)),
        (seconds(now.whole), seconds(before.whole)),
    ]
    rows = [
        ExplorerRow(key=f"sum:{place}", label=ours, description=f"before: {theirs}", icon="graph")
        for place, (ours, theirs) in enumerate(sums)
    ]
    ours, theirs = ProblemsOfLaunch(reader, now.name), ProblemsOfLaunch(reader, before.name)
    for kind in _COMPARED:
        rows += _differing(ours.of_kind(kind), theirs.of_kind(kind))
    return rows


def _differing(now: list[Problem], before: list[Problem]) -> list[ExplorerRow]:
    """Return what only one of the two has, the new ones first."""
    found = []
    for ours, theirs, word, icon in ((now, before, "New", "diff-added"), (before, now, "Gone", "diff-removed")):
        counts = Counter(map(_key, theirs))
        for each in ours:
            if each.kind == "alsoFailed":
                continue
            if counts[_key(each)] > 0:
                counts[_key(each)] -= 1
                continue
            told = problem_row(each, {})
            told.key, told.label, told.icon = f"{word}:{told.key}", f"{word}: {told.label}", icon
            told.severity = "success" if word == "Gone" else "warning"
            told.children = [each for each in told.children if not each.is_lazy]
            found.append(told)
    return found


def _key(each: Problem) -> Hashable:
    """Return what is the same where lines have moved, or changed."""
    return each.section, each.place.path, each.function, each.resumes_at is None, each.cause
