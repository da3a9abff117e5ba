"""Find where a module compiles: `@torch.compile`, `torch.compile(…)`, `module.compile()`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial

from dynascope_lsp.documents.syntax import FunctionNode, first_line, statements
from dynascope_lsp.prediction.frame import Frame
from dynascope_lsp.prediction.interpreter import Interpreter
from dynascope_lsp.prediction.modules import WorkspaceModule
from dynascope_lsp.prediction.program import BUDGET
from dynascope_lsp.prediction.values import FunctionValue, Instance

BUDGET_TO_FIND_SITES = 20_000
"""The most expressions and statements evaluated to find the sites of one module."""

_MENTION = re.compile(r"compile\b(?=(\s*(?:[(,)]|$))?)", re.MULTILINE)
"""The group matches if the name is called or ends an expression."""
_ELSE = re.compile(r"#|(?:\w|\bre\.|`|`torch\.)$")
"""Matches text before the name if it is in a comment, part of another name, or `re.compile`."""


def mentions_compile(source: str) -> bool:
    """Whether the code of a text may mention `compile`: a quick check before it is parsed."""
    if "torch" not in source or "compile" not in source:
        return False
    for found in _MENTION.finditer(source):
        before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        if (found[1] is not None or "import" in before) and not _ELSE.search(before):
            return True
    return False


def compiled(interpreter: Interpreter, module: WorkspaceModule) -> Iterator[FunctionValue]:
    """Iterate over the root functions of the compiles in this module.

    The module's own statements are interpreted, then its functions in whose lines something is compiled, as if
    called with any arguments.
    """
    interpreter.sites = {}
    interpreter.budget = BUDGET_TO_FIND_SITES
    interpreter.within_the_stack(Frame.of_module(interpreter, module).run_module)
    owners = {id(method): info for info in module.classes.values() for method in info.methods.values()}
    lines = [number for number, line in enumerate(module.text.lines, 1) if "compile" in line]
    for node in statements(module.tree.body):
        if not isinstance(node, FunctionNode) or not _has_any(node, lines):
            continue
        owner = owners.get(id(node))
        static = any(interpreter.name_of(module, each) == "builtins.staticmethod" for each in node.decorator_list)
        bound = Instance(owner, exact=False) if owner is not None and not static else None
        function = FunctionValue(module, node, owner, bound)
        interpreter.within_the_stack(partial(interpreter.decorated, function))
        interpreter.within_the_stack(partial(interpreter.call, function, None, {}, certain=False, depth=0))
    found = list(interpreter.sites.values())
    interpreter.sites = None
    interpreter.budget = BUDGET
    yield from found


def _has_any(node: FunctionNode, lines: list[int]) -> bool:
    """Whether one of `lines`, which are in order, is in a function or its decorators."""
    place = bisect_left(lines, first_line(node))
    return place < len(lines) and lines[place] <= (node.end_lineno or 0)
