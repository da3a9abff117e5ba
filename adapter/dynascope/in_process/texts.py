"""Write what a recording tells, as text and as a page. Imported when it is asked for: it takes memory."""

from __future__ import annotations

import html
from collections.abc import Mapping

from dynascope.explain.compiles import COMPILED_BEFORE, NOTHING
from dynascope.explain.limits import Counts
from dynascope.facts.reader import Reader
from dynascope.report.brief import print_brief
from dynascope.report.over_limits import over_limits
from dynascope.report.sources import Sources
from dynascope.report.summary import Summary
from dynascope.report.terminal import Further, print_summary, printed

_FURTHER = Further(
    one="One in full: .explain(ID)",
    all="All: .report()",
    time="For dynascope profile and the editor: .save()",
    others=COMPILED_BEFORE,
)
_HEIGHT = "34em"


def brief(reader: Reader, summary: Summary) -> str:
    """Return what to mend first."""
    return printed(lambda console: print_brief(summary, Sources(reader), console, _FURTHER))


def whole(reader: Reader, summary: Summary) -> str:
    """Return all problems in full, and the slowest lines."""
    return printed(lambda console: print_summary(summary, Sources(reader), console, _FURTHER))


def exceeding(reader: Reader, summary: Summary, most: Mapping[str, int], errors: list[str]) -> str:
    """Return what exceeds the limits, or that nothing was compiled; "" where all is well."""
    counts = Counts(summary.problems, summary.compiles)
    if counts.is_empty(most):
        return "\n".join([f"{NOTHING.capitalize()}: {COMPILED_BEFORE}", *errors])
    return over_limits(counts.exceeded(most), summary, Sources(reader))


def page(reader: Reader, summary: Summary) -> str:
    """Return the report as HTML that can stand in a page of others."""
    from dynascope.report.page import page
    from dynascope.report.profile.measured import measured

    whole = page(summary, Sources(reader), measured(reader, summary.launch))
    return f'<iframe srcdoc="{html.escape(whole)}" style="width:100%;height:{_HEIGHT};border:0"></iframe>'
