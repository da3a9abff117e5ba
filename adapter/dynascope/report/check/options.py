"""The options that say when a check fails, for the commands `check` and `run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dynascope.explain.limits import LIMITED
from dynascope.report.check.kinds import NAMES, Kinds, Most
from dynascope.report.check.outcome import Limits

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT = ("graph-break", "recompile", "failure")


def limit_options(command: F) -> F:
    """Add the options `--fail-on`, `--max` and `--baseline`."""
    for option in (
        click.option("--baseline", type=click.Path(dir_okay=False, path_type=Path), help="Known problems pass."),
        click.option("--max", "most", multiple=True, type=Most(), help=f"Allow N of a kind: {NAMES}."),
        click.option(
            "--fail-on", type=Kinds(), help=f"Fail on these kinds ({','.join(DEFAULT)}): {', '.join(LIMITED)}."
        ),
    ):
        command = option(command)
    return command


def limits_of(fail_on: tuple[str, ...] | None, most: tuple[tuple[str, int], ...], baseline: Path | None) -> Limits:
    """Return what is asked for; without `--fail-on`, graph breaks, recompiles and failures fail."""
    return Limits({**dict.fromkeys(fail_on if fail_on is not None else DEFAULT, 0), **dict(most)}, baseline)
