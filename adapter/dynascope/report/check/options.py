"""The options that say when a check fails, for the commands `check` and `run`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dynascope.explain.limits import COUNTED, LIMITED
from dynascope.report.check.outcome import Limits

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT = ("graph-break", "recompile", "failure")
_NAMES = ", ".join([*LIMITED, *COUNTED])


class Kinds(click.ParamType):  # type: ignore[type-arg] # generic in newer versions
    """Kinds of problems, separated by commas."""

    name = "KIND,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the kinds; fail at one that there is not."""
        kinds = tuple(filter(None, value.split(","))) if isinstance(value, str) else tuple(value)
        if not kinds:
            self.fail(f"It names no kind. There are: {', '.join(LIMITED)}.", param, ctx)
        for kind in kinds:
            if kind not in LIMITED:
                self.fail(f"There is no kind {kind!r}. There are: {', '.join(LIMITED)}.", param, ctx)
        return kinds


class Most(click.ParamType):  # type: ignore[type-arg] # generic in newer versions
    """The most that is allowed of a kind: `recompile=2`."""

    name = "KIND=N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the kind and the number; fail where it is neither."""
        if isinstance(value, tuple):
            return value
        kind, _, number = str(value).partition("=")
        if kind not in (*LIMITED, *COUNTED) or not number.isdecimal():
            self.fail(f"{value!r} is not KIND=N. Kinds are: {_NAMES}.", param, ctx)
        return kind, int(number)


def limit_options(command: F) -> F:
    """Add the options `--fail-on`, `--max` and `--baseline`."""
    for option in (
        click.option("--baseline", type=click.Path(dir_okay=False, path_type=Path), help="Known problems pass."),
        click.option("--max", "most", multiple=True, type=Most(), help=f"Allow N of a kind: {_NAMES}."),
        click.option(
            "--fail-on", type=Kinds(), help=f"Fail on these kinds ({','.join(DEFAULT)}): {', '.join(LIMITED)}."
        ),
    ):
        command = option(command)
    return command


def limits_of(fail_on: tuple[str, ...] | None, most: tuple[tuple[str, int], ...], baseline: Path | None) -> Limits:
    """Return what is asked for; without `--fail-on`, graph breaks, recompiles and failures fail."""
    return Limits({**dict.fromkeys(fail_on if fail_on is not None else DEFAULT, 0), **dict(most)}, baseline)
