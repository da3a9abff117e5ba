"""Describe a statement of plain Python that may part two ranks, and the values that a rank has where it waits."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from dynascope.facts.comparison.called import Called
from dynascope.facts.comparison.called_predicates import names_asked
from dynascope.facts.comparison.plain_code import Branching, Loop, condition_of, head_of, is_until_false, names_in
from dynascope.facts.user_stack import UserFrame

Kind = Literal[
    "condition", "loop", "break", "skips", "passes", "elements", "noted", "except", "with", "call", "operand", "setting"
]
"""`loop`: one that a rank has left; `break`: a condition that leaves it; `skips`: one that goes on with its next
element; `passes`: one that may have done so in the rank that has left the loop; `elements`: a loop around the line,
for how many elements it has; `noted`: a condition that counts in a variable how often it is true; `except`: a
handler of an error that only some ranks meet; `with`: a context; `call`: the line itself, of both ranks; `operand`:
the line of one, for a process group or a DTensor that it reads; `setting`: a statement in a loop, for an attribute
or element that it reads."""

PROCESS_GROUP = "the process group"
"""The text of a process group begins so."""
DTENSOR = "a DTensor"
"""The text of a DTensor begins so."""
MODULE = "<module>"
"""The function of the code of a file itself."""
FSDP_SETTINGS = "fully_shard"
"""In place of a function: the values are settings of FSDP2's parameters.

By a parameter's name alone it is its `requires_grad`, of which only False is told.
"""
RESHARDS = "reshard_after_forward"
"""The argument of `fully_shard` (2.6), kept by a module's first parameter: `layers.0.weight.reshard_after_forward`."""
PARAM_DTYPE, REDUCE_DTYPE = "param_dtype", "reduce_dtype"
"""Attributes of `MixedPrecisionPolicy` (2.4), which are kept as `RESHARDS` is."""
FSDP_MODULE_SETTINGS = (RESHARDS, PARAM_DTYPE, REDUCE_DTYPE)
"""The settings of a module of FSDP2 by which it calls other collectives."""
DDP_SETTINGS = ("find_unused_parameters", "static_graph", "broadcast_buffers", "bucket_bytes_cap")
"""The attributes of `DistributedDataParallel` (2.0) by which it calls other collectives."""


class FrameValues(Struct, array_like=True):
    """The values that the code of a function reads, in a frame of a rank that waits in a collective."""

    path: str
    function: str
    values: dict[str, str]
    objects: list[dict[str, str]] = []
    """For each caller, the nearest first, its names for objects that are local variables here: `guard` for `self`."""


class ValuesAt(Struct, array_like=True):
    """The values in the frames of a rank as it begins a collective, or where it waits, or has failed."""

    group: str
    place: tuple[str, int, int] | None
    """The place of the collective in the process group; None for the last one."""
    frames: list[FrameValues]
    """The innermost first."""


PairOfValues = tuple[Sequence[FrameValues], Sequence[FrameValues]]
"""The values in the frames of two ranks, the innermost first."""


class EarlierCall(NamedTuple):
    """The collective that both ranks have called before those at which they part, as far as it is known."""

    stack: Sequence[UserFrame] = ()
    """The lines of this rank, the innermost last."""
    values: PairOfValues = ((), ())
    """The values of the latest collective before at which those of both ranks are known."""
    is_anew: tuple[bool, bool] = (False, False)
    """Whether each rank has begun an inner loop of these lines again since."""
    calls: tuple[Sequence[Called], Sequence[Called]] = ((), ())
    """The collectives of each rank, with those at which they part last."""
    reduced: tuple[Sequence[Called], Sequence[Called]] = ((), ())
    """The forwards of each after whose backwards DistributedDataParallel reduces gradients."""

    def turned(self) -> EarlierCall:
        """Return the same with the ranks exchanged."""
        return EarlierCall(self.stack, self.values[::-1], self.is_anew[::-1], self.calls[::-1], self.reduced[::-1])


class PlainBranch(NamedTuple):
    """A statement that may part two ranks."""

    path: str
    line: int
    function: str
    text: str
    """`step % every == 0`, or of a loop `for batch in loader`."""
    reads: list[str]
    """The names that it reads: `self.step`, `config['every']`."""
    kind: Kind
    is_true: tuple[bool, bool] | None
    """Whether it is true in each rank, or whether each is in the loop; None where the lines do not tell."""
    side: int | None = None
    """The rank, 0 or 1 of the two, that alone is in this function; None if both are."""
    elements: str = ""
    """The expression over which a `for` loop iterates: `loader`."""
    goes_on: str = ""
    """For a condition that leaves a loop: an expression that is true except in the last iteration."""
    assigned: frozenset[str] | None = None
    """The names that the loop around it assigns; the rank that is not `side` is in a later round. None in no round."""
    inside: str = ""
    """The function that has been called there, and has returned, in which the statement is; "" for `function`."""
    is_only: bool = False
    """Whether nothing else has kept a rank from calling in a round of a loop."""
    is_until_false: bool = False
    """Whether a rank that is not in a `while` loop has found its condition false."""
    handler: tuple[int, str] | None = None
    """In a loop, the line of a handler that goes on after an error, which it notes nowhere: `except ValueError`."""

    @property
    def condition(self) -> str:
        """Return the condition of a `while` loop, without the keyword."""
        return self.text.removeprefix("while ")


def branch_of(node: Branching, frame: UserFrame, is_true: tuple[bool, bool] | None) -> PlainBranch:
    """Return a condition or loop, with what it reads."""
    is_loop = isinstance(node, Loop)
    text = head_of(node) if is_loop else ast.unparse(condition_of(node))
    condition = condition_of(node)
    reads = [*dict.fromkeys([*names_in(condition), *names_asked(frame.path, condition)])]
    kind: Kind = "loop" if is_loop else "condition"
    elements = ast.unparse(node.iter) if isinstance(node, ast.For) else ""
    return PlainBranch(
        frame.path,
        node.lineno,
        frame.function,
        text,
        reads,
        kind,
        is_true,
        elements=elements,
        is_until_false=is_until_false(node, frame.path),
    )


def truth_by_side(is_true: bool, side: int) -> tuple[bool, bool]:
    """Return whether a condition is true in each of two ranks.

    `is_true` is that of `side`, 0 or 1; it is the other way in the other.
    """
    return (is_true, not is_true) if side == 0 else (not is_true, is_true)
