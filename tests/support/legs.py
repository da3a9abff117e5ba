"""The legs of the matrix: the first has every case of a long table, and the others take turns at its cases."""

from __future__ import annotations

import sys

import torch

_OTHERS = {(12, "2.11"): 0, (12, "2.12"): 1, (12, "2.14"): 2, (12, "2.15"): 3, (13, "2.15"): 4}
"""The turn of each leg other than the first, by the minor version of Python and the version of torch."""


def is_turn_of_leg(turn: int) -> bool:
    """Whether it is the turn of the leg that runs now, which is not the first."""
    own = _OTHERS.get((sys.version_info.minor, ".".join(torch.__version__.split(".")[:2])))
    return own == turn % len(_OTHERS)
