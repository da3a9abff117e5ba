"""Make the rows of launches, and the sections below one: those of the report, in its order."""

from __future__ import annotations

import platform
import time

from dynascope.explain.compiles import NO_BREAKS, NOTHING, went_wrong
from dynascope.explain.not_recorded import KILLED, NOT_ENDED, ending
from dynascope.facts import model
from dynascope.facts.counts import counted, seconds
from dynascope.facts.launches import Launch
from dynascope.facts.process_names import process_name

from dynascope_lsp.explorer.rows import ExplorerRow, Severity


def launch_row(key: str, launch: Launch, is_newest: bool) -> ExplorerRow:
    """Return a launch with its program, its time and what went wrong in it."""
    run = launch.first
    icon, severity = _icon(launch)
    processes = len(launch.compiling)
    state, why = _state(launch)
    sums = _sums(launch)
    parts = [when(run.began), state, sums, f"{processes} processes" if processes > 1 else "", _torch(run)]
    details = [
        run.program,
        f"in {run.folder}{'' if run.host == platform.node() else f' on {run.host}'}",
        time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began)),
        f"{_torch(run)}, Python {run.python_version}",
        ", ".join(map(process_name, launch.compiling)) if processes > 1 else "",
        f"{counted(launch.compiles, 'compile')}, {counted(launch.graphs, 'graph')}, {sums}",
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
        brief="recording" if launch.is_running else ", ".join(_problems(launch)),
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


def _sums(launch: Launch) -> str:
    return ", ".join([*_problems(launch), *([seconds(launch.seconds)] if launch.compiling else [])])


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
