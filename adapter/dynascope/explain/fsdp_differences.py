"""Say which settings of FSDP2's parameters differ in two ranks."""

from __future__ import annotations

import re

from dynascope.facts.comparison.plain_branch import FSDP_SETTINGS, RESHARDS, PairOfValues

_PARAMETER = re.compile(r"[\w.]+")


def fsdp_difference(takes: tuple[str, str], values: PairOfValues, numbers: tuple[int, int]) -> str:
    """Say which settings of FSDP2's parameters differ in two ranks; "" if they are not known.

    `takes` are what the collectives take: `layers.1.weight, layers.1.bias (f32[272])`.
    """
    settings = [next((each.values for each in side if each.function == FSDP_SETTINGS), {}) for side in values]
    for side, other in ((0, 1), (1, 0)):
        names = [name for name in _PARAMETER.findall(takes[other].partition(" (")[0]) if name in settings[side]]
        if names:
            return f"{names[0]}.requires_grad is False in rank {numbers[side]}, and True in rank {numbers[other]}."
    first = [_PARAMETER.findall(each.partition(" (")[0])[:1] for each in takes]
    for name in dict.fromkeys(f"{each[0]}.{RESHARDS}" for each in first if each):
        told = [side.get(name) for side in settings]
        if None not in told and told[0] != told[1]:
            text = ", and ".join(f"{value} in rank {number}" for value, number in zip(told, numbers, strict=True))
            return f"{RESHARDS} of the module of {name.removesuffix(f'.{RESHARDS}')} is {text}."
    return ""
