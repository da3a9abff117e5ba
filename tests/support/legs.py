"""The legs of the matrix: the first has every case of a long table, and the others take turns at its cases."""

from __future__ import annotations

import sys

import torch

_LEG = sys.version_info.minor, ".".join(torch.__version__.split(".")[:2])
_FIRST = 11, "2.13"
_OTHERS = [(12, "2.11"), (12, "2.12"), (12, "2.14"), (12, "2.15"), (13, "2.15")]
"""The minor version of Python and the version of torch of each leg, as in the Makefile."""


def is_turn_of_leg(turn: int) -> bool:
    """Whether it is the turn of the leg that runs now, which is not the first.

    A leg that is not listed takes the turns of the first that is.
    """
    if _LEG == _FIRST:
        return False
    own = _OTHERS.index(_LEG) if _LEG in _OTHERS else 0
    return own == turn % len(_OTHERS)
