"""Write the outcome of a check: as text, as GitHub's annotations, as SARIF 2.1.0, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dynascope.explain.compiles import NOTHING
from dynascope.explain.graph_breaks import registry_page
from dynascope.explain.kinds import KINDS
from dynascope.explain.problem import Problem
from dynascope.facts.counts import counted
from dynascope.facts.file_names import given_name
from dynascope.report.check.outcome import CheckOutcome
from dynascope.report.over_limits import over_limits
from dynascope.report.sources import Sources, shown_path
from dynascope.report.told_as_json import ReportedLaunch, reported_launch

_NAMED = 3
"""The number of known problems that are named where they did not occur."""
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(checked: CheckOutcome, sources: Sources) -> str:
    """Return the totals, the problems of kinds with too many, and the verdict."""
    summary = checked.summary
    lines = [f"{summary.first_run.program}: {summary.totals}"] if summary.compiles else []
    lines += [over_limits(checked.exceeded, summary, sources)] if checked.exceeded else []
    return "\n".join([*lines, *remarks(checked), verdict(checked)])


def verdict(checked: CheckOutcome) -> str:
    """Return in one line whether the check passes."""
    if checked.is_empty:
        return f"check failed: {NOTHING} in {checked.summary.first_run.program}"
    known = f" ({counted(checked.known, 'known problem')} left out)" if checked.known else ""
    if checked.passes:
        return f"check passed{known}"
    return f"check failed: {', '.join(each.title for each in checked.exceeded)}{known}"


def remarks(checked: CheckOutcome) -> list[str]:
    """Return remarks on the baseline: what it lacks, and the problems that did not occur."""
    told = [checked.remark] if checked.remark else []
    if gone := checked.gone:
        named = ", ".join([*gone[:_NAMED], *([f"and {len(gone) - _NAMED} more"] if len(gone) > _NAMED else [])])
        told.append(f"{counted(len(gone), 'known problem')} did not occur: {named}. --update takes them out.")
    return told


def as_github(checked: CheckOutcome, sources: Sources) -> str:
    """Return workflow commands of GitHub Actions, which annotate the lines, and the verdict."""
    lines = [
        f"::{'error' if each.id in checked.failing else 'warning'} "
        f"file={_property(_in_repository(each.place.path))},line={each.place.line},"
        f"title={_property(each.title)}::{_data(_message(each))}"
        for each in checked.problems
    ]
    lines += [f"::warning::{_data(remark)}" for remark in remarks(checked)]
    return "\n".join([*lines, f"::{'notice' if checked.passes else 'error'}::{_data(verdict(checked))}"])


def _in_repository(path: str) -> str:
    """Return a path from the root that GitHub Actions names, or from the current folder."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    if root and path.startswith(os.path.join(os.path.realpath(root), "")):
        return os.path.relpath(path, os.path.realpath(root))
    return path if given_name(path) else shown_path(path)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(checked: CheckOutcome, sources: Sources) -> str:
    """Return a SARIF log with a result for each problem; problems that are known are left out."""
    rules: dict[str, dict[str, Any]] = {}
    for each in checked.problems:
        rules.setdefault(_rule(each), _described(each))
    run = {
        "tool": {
            "driver": {
                "name": "dynascope",
                "version": version("dynascope"),
                "rules": [{"id": name, **told} for name, told in rules.items()],
            }
        },
        "automationDetails": {"id": f"dynascope/{checked.summary.first_run.program}"},
        "invocations": [_invocation(checked)],
        "columnKind": "utf16CodeUnits",
        "results": [_result(each, list(rules).index(_rule(each)), checked) for each in checked.problems],
    }
    log = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log)).decode()


def _rule(each: Problem) -> str:
    return each.registry_id or each.kind


def _described(each: Problem) -> dict[str, Any]:
    text = f"Graph break: {each.cause}" if each.registry_id else KINDS[each.kind].heading
    told: dict[str, Any] = {"name": each.kind, "shortDescription": {"text": text}}
    if each.registry_id:
        told["helpUri"] = registry_page(each.registry_id)
    return told


def _invocation(checked: CheckOutcome) -> dict[str, Any]:
    run = checked.summary.first_run
    told: dict[str, Any] = {"executionSuccessful": not checked.is_empty, "commandLine": run.program}
    texts = [*([NOTHING] if checked.is_empty else []), *remarks(checked)]
    if texts:
        told["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}} for text in texts]
    return told


def _result(each: Problem, rule: int, checked: CheckOutcome) -> dict[str, Any]:
    related = [{"id": at, **_location(place.path, place.line)} for at, place in enumerate(each.callers, 1)]
    return {
        "ruleId": _rule(each),
        "ruleIndex": rule,
        "level": "error" if each.id in checked.failing else "warning",
        "message": {"text": _message(each)},
        "locations": [_location(each.place.path, each.place.line)],
        "relatedLocations": related,
        "partialFingerprints": {"dynascopeProblem/v1": each.id},
        "occurrenceCount": max(each.count, 1),
    }


def _location(path: str, line: int) -> dict[str, Any]:
    shown = Path(_in_repository(path))
    artifact = {"uri": shown.as_uri()} if shown.is_absolute() else {"uri": shown.as_posix(), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(line, 1)}}}


def _message(each: Problem) -> str:
    """Return the problem in a few lines: its title, its effect, why, and remedies."""
    effect = [f"{each.effect[:1].upper()}{each.effect[1:]}"] if each.effect else []
    told = [each.title, *effect, *each.details[:1], *(f"hint: {remedy}" for remedy in each.remedies)]
    return "\n".join([*told, f"dynascope explain {each.id}"])


class CheckedKind(Struct):
    """A kind of which there is too much."""

    kind: str
    count: int
    allowed: int
    problems: list[str]
    """The ids of the problems that count."""


class CheckedLaunch(Struct):
    """The outcome of a check, and the launch with its problems."""

    passed: bool
    verdict: str
    exceeded: list[CheckedKind]
    known: int
    """How many problems are known, and did not count."""
    gone: list[str]
    """The known problems that did not occur."""
    launch: ReportedLaunch


def as_json(checked: CheckOutcome, sources: Sources) -> str:
    """Return a JSON object: CheckedLaunch, whose `launch` is that of `report --json`."""
    outcome = CheckedLaunch(
        passed=checked.passes,
        verdict=verdict(checked),
        exceeded=[
            CheckedKind(each.name, each.count, each.most, [problem.id for problem in each.problems])
            for each in checked.exceeded
        ],
        known=checked.known,
        gone=checked.gone,
        launch=reported_launch(checked.summary),
    )
    return msgspec.json.format(msgspec.json.encode(outcome)).decode()


FORMATS: dict[str, Callable[[CheckOutcome, Sources], str]] = {
    "text": as_text,
    "github": as_github,
    "sarif": as_sarif,
    "json": as_json,
}
