"""Copied into a package before the test imports it, so that its code is a library's."""

from __future__ import annotations

import torch  # noqa: F401  # for statements that the test puts in

LIMIT = 3
SEEN: list[int] = []


def layer(x):
    for i in range(3):
        y = x + i  #: library
    return y
