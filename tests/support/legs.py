"""The legs of the matrix: the first has every case of a long table, and the others take turns at its cases."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable

import pytest

_LEG = sys.version_info.minor, ".".join(importlib.metadata.version("torch").split(".")[:2])
_FIRST = 11, "2.13"
_OTHERS = [(12, "2.11"), (12, "2.12"), (12, "2.14"), (12, "2.15"), (13, "2.15")]
"""The minor version of Python and the version of torch of each leg, as in the Makefile."""

IS_FIRST = _LEG == _FIRST
"""Whether the leg that runs now is the first."""


def left_to_other_legs(tests: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the cases of long tables that it is not the turn of the leg that runs now to run.

    A long table is a test of the matrix with at least as many cases as there are legs that take turns. A leg that is
    not listed takes the turns of the first that is.
    """
    if IS_FIRST:
        return set()
    own = _OTHERS.index(_LEG) if _LEG in _OTHERS else 0
    tables: dict[str, list[pytest.Item]] = {}
    for test in tests:
        if test.get_closest_marker("matrix") and not test.get_closest_marker("main_leg"):
            tables.setdefault(test.nodeid.partition("[")[0], []).append(test)
    return {
        case
        for cases in tables.values()
        if len(cases) >= len(_OTHERS)
        for turn, case in enumerate(cases)
        if turn % len(_OTHERS) != own
    }
