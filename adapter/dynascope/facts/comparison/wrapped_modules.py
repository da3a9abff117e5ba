"""Find the statements that decide which modules are wrapped, as by `fully_shard` (torch 2.6)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from dynascope.facts.comparison.plain_branches import PlainBranch, branch_of
from dynascope.facts.comparison.plain_code import branches_of, function_at
from dynascope.facts.user_stack import UserFrame

_WRAPS = re.compile("shard|wrap|parallel", re.IGNORECASE)


def wrapping(stack: Sequence[UserFrame]) -> Iterator[PlainBranch]:
    """Yield conditions and loops in which modules are wrapped before some lines."""
    for frame in reversed(stack):
        function = function_at(frame.path, [frame.line])
        for node in branches_of(function) if function is not None else []:
            calls = (each.func for part in node.body for each in ast.walk(part) if isinstance(each, ast.Call))
            if node.lineno < frame.line and any(_WRAPS.search(ast.unparse(each)) for each in calls):
                yield branch_of(node, frame, None)._replace(kind="setting")
