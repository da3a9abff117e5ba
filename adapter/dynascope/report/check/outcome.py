"""Decide whether a launch passes: limits by kind, and the problems that are known."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from dynascope.explain.limits import LIMITED, Counts, Exceeded
from dynascope.explain.problem import Problem
from dynascope.report.check.baseline import KnownProblem, known, minor, read
from dynascope.report.summary import Summary


class CheckOutcome(Struct):
    """The outcome of a check."""

    summary: Summary
    exceeded: list[Exceeded]
    problems: list[Problem]
    """The problems of the limited kinds; known problems are left out."""
    known: int
    """How many are known."""
    is_empty: bool
    """Whether it fails because nothing was compiled."""
    remark: str
    """A remark on the baseline, such as that it lacks this torch version; else ""."""
    gone: list[str]
    """The known problems that did not occur, each with its title and place."""

    @property
    def passes(self) -> bool:
        return not self.exceeded and not self.is_empty

    @property
    def failing(self) -> set[str]:
        """Return the ids of the problems for which it fails."""
        return {problem.id for each in self.exceeded for problem in each.problems}


class Limits(Struct, frozen=True):
    """The limits of a check: the most that is allowed of each kind, and the known problems."""

    most: dict[str, int]
    """The most that is allowed of each kind (see `explain.limits`)."""
    baseline: Path | None = None

    def check(self, summary: Summary) -> CheckOutcome:
        """Compare a launch. Raises BaselineError."""
        counts = Counts(summary.problems, summary.compiles)
        rows: dict[str, KnownProblem] = {}
        remark = ""
        if self.baseline is not None:
            version = minor(summary.first_run.torch_version)
            versions = read(self.baseline).torch
            rows = versions.get(version, {})
            if version not in versions:
                others = ", ".join(versions) or "no version"
                remark = f"{self.baseline} has the problems of torch {others}, not of {version}: --update adds them."
        limited = self._limited(counts)
        ids, met = set(rows), {each.id for each in summary.problems}
        return CheckOutcome(
            summary=summary,
            exceeded=counts.exceeded(self.most, ids),
            problems=[each for each in limited if each.id not in ids],
            known=sum(each.id in ids for each in limited),
            is_empty=counts.is_empty(self.most),
            remark=remark,
            gone=[f"{row.title} ({row.at})" for id, row in rows.items() if id not in met],
        )

    def limited(self, summary: Summary) -> dict[str, KnownProblem]:
        """Return the problems of the limited kinds, as rows of a baseline."""
        return known(self._limited(Counts(summary.problems, summary.compiles)))

    def _limited(self, counts: Counts) -> list[Problem]:
        """Return the problems of all limited kinds, in the order in which they are told."""
        wanted = {each.id for name in self.most if name in LIMITED for each in counts.of_kind(name)}
        return [each for each in counts.problems if each.id in wanted]
