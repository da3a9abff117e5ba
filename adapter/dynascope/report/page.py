"""The summary as one self-contained HTML page (`page.html`): what the terminal says, in the same order, and more."""

from __future__ import annotations

import base64
import hashlib
import time
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from dynascope.explain.comparison import summary as compared_text
from dynascope.explain.compiles import NOTHING, ended, several, why
from dynascope.explain.graph_breaks import registry_page
from dynascope.explain.kinds import KINDS, SECTIONS
from dynascope.explain.not_recorded import ending
from dynascope.explain.problem import named
from dynascope.report.profile.measured import Measured
from dynascope.report.sources import Sources, shown_path
from dynascope.report.summary import Summary

_CALLERS = ("caller", "more callers", "more chains")


def page(summary: Summary, sources: Sources, times: list[Measured]) -> str:
    """Return the whole page. It runs only the script in it, and loads nothing."""

    def names(compiles: list[int]) -> str:
        return several(summary.names[number] for number in compiles)

    def difference(number: int) -> list[str]:
        compared = summary.comparisons.get(number)
        return [*summary.stories.get(number, ()), *(compared_text(compared)[1:] if compared is not None else ())]

    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=FileSystemLoader(Path(__file__).parent)
    )
    environment.filters.update(
        names=names, difference=difference, shown=shown_path, lines=Markup("<br>").join, digest=_digest
    )
    run = summary.first_run
    return environment.get_template("page.html").render(
        summary=summary,
        sources=sources,
        times=times,
        run=run,
        began=time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began)),
        kinds=KINDS,
        sections=SECTIONS,
        callers=_CALLERS,
        registry_page=registry_page,
        ending=ending(summary.runs, summary.compiling),
        totals=summary.totals if summary.compiles else f"{NOTHING.capitalize()}.",
        ended=ended,
        why=why,
        named=named,
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
