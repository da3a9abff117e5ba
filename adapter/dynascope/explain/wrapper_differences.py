"""Say which settings of FSDP2, or of DistributedDataParallel, differ in two ranks."""

from __future__ import annotations

import ast
import re

from dynascope.facts.comparison.plain_branch import (
    DDP_SETTINGS,
    FSDP_MODULE_SETTINGS,
    FSDP_SETTINGS,
    MODULE,
    FrameValues,
    PairOfValues,
)
from dynascope.facts.comparison.plain_code import function_at, module_at
from dynascope.facts.user_stack import UserFrame

_ARGUMENTS = {"bucket_bytes_cap": "bucket_cap_mb"}
"""The arguments of DistributedDataParallel that are not named as its attributes."""
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
    for name, kind in ((each[0], kind) for each in first if each for kind in FSDP_MODULE_SETTINGS):
        told = [side.get(f"{name}.{kind}") for side in settings]
        if None not in told and told[0] != told[1]:
            text = ", and ".join(f"{value} in rank {number}" for value, number in zip(told, numbers, strict=True))
            return f"{kind} of the module of {name} is {text}."
    return ""


def ddp_difference(values: PairOfValues, numbers: tuple[int, int]) -> tuple[str, UserFrame | None]:
    """Say which setting of DistributedDataParallel differs in two ranks; "" without one.

    It is that of a variable, or an attribute, which a function has in both. The line that passes it is returned, too,
    if there is only one in the file.
    """
    if numbers[0] > numbers[1]:  # the lower rank is told first
        values, numbers = values[::-1], numbers[::-1]
    theirs = {(each.path, each.function): each.values for each in values[1]}
    for frame in values[0]:
        other = theirs.get((frame.path, frame.function), {})
        for name, value in frame.values.items():
            setting = name.rpartition(".")[2]
            if setting in DDP_SETTINGS and other.get(name, value) != value:
                told = f"{name} is {value} in rank {numbers[0]}, and {other[name]} in rank {numbers[1]}."
                return told, _passed_at(frame, setting)
    return "", None


def _passed_at(frame: FrameValues, setting: str) -> UserFrame | None:
    """Return the line that passes a setting, if it is the only such line of its file."""
    module, argument = module_at(frame.path), _ARGUMENTS.get(setting, setting)
    lines = {
        node.lineno
        for node in (ast.walk(module) if module is not None else ())
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(("DistributedDataParallel", "DDP"))
        and any(each.arg == argument for each in node.keywords)
    }
    if len(lines) != 1:
        return None
    (line,) = lines
    return UserFrame(frame.path, line, getattr(function_at(frame.path, [line]), "name", MODULE))
