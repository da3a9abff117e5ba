"""Find the statements that decide which modules are wrapped, as by `fully_shard` (torch 2.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.plain_branch import PlainBranch, branch_of
from dynascope.facts.comparison.plain_code import condition_of, function_at, names_in
from dynascope.facts.comparison.plain_reads import WrappingCall, branches_that_wrap, wrapping_calls
from dynascope.facts.user_stack import UserFrame


def wrapping(stack: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield conditions and loops in which modules are wrapped before some lines.

    They are in the functions of these lines, or in functions that have been called there.
    """
    for frame in reversed(stack):
        function = function_at(frame.path, [frame.line])
        if function is None:
            continue
        for node in branches_that_wrap(function):
            if node.lineno < frame.line:
                yield branch_of(node, frame, None)._replace(kind="setting")
        for call in wrapping_calls(frame.path, function):
            if call.line < frame.line:
                yield from _in_call(call, frame)


def _in_call(call: WrappingCall, frame: UserFrame) -> Iterator[PlainBranch]:
    """Yield what decides in a function that has returned, which reads what the call has passed."""
    given = dict(zip(call.parameters, call.given, strict=False))
    for node in call.branches:
        passed = [given[name] for name in names_in(condition_of(node)) if name in given]
        if reads := [*dict.fromkeys(name for each in passed for name in names_in(each))]:
            yield branch_of(node, frame, None)._replace(kind="setting", reads=reads, inside=call.function)
