"""Read kinds of problems, and how many are allowed of each, from a command line."""

from __future__ import annotations

from typing import Any

import click

from dynascope.explain.limits import COUNTED, LIMITED

NAMES = ", ".join([*LIMITED, *COUNTED])
"""The kinds, and what else can be limited."""


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
            self.fail(f"{value!r} is not KIND=N. Kinds are: {NAMES}.", param, ctx)
        return kind, int(number)
