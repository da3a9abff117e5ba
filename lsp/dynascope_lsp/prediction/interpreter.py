"""Follow the code from one site, call by call; `frame` interprets the body of each function.

Reports are kept by place and rule, results of calls by function and kinds of arguments, so that each is found once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from dynascope_lsp.prediction.control_flow import is_generator
from dynascope_lsp.prediction.frame import Frame
from dynascope_lsp.prediction.modules import WorkspaceModule
from dynascope_lsp.prediction.program import ProgramNames
from dynascope_lsp.prediction.torch_names import CONTEXT_MANAGER
from dynascope_lsp.prediction.values import (
    OTHER,
    UNKNOWN,
    Class,
    FunctionValue,
    Instance,
    LiteralValue,
    ModuleValue,
    Several,
    Value,
)

DEPTH = 24


class Interpreter(ProgramNames):
    """Interpret the program from one site."""

    def __init__(self, import_module: Callable[[WorkspaceModule, str, int], WorkspaceModule | None]) -> None:
        super().__init__(import_module)
        self._alive: list[FunctionValue] = []
        self._results: dict[object, tuple[Value, bool]] = {}
        """The result of a call, and whether there was a break in it."""

    def trace(self, function: FunctionValue) -> None:
        """Interpret a function as the root frame of a compile."""
        self.one_graph = function.one_graph
        self.call(function, None, {}, certain=True, depth=0)

    def call(
        self,
        function: FunctionValue,
        arguments: list[Value] | None,
        keywords: dict[str, Value],
        *,
        certain: bool,
        depth: int,
        more: bool = False,
    ) -> Value:
        if depth > DEPTH or self.budget <= 0:
            return UNKNOWN
        key = (
            id(function.node),
            id(function.closure),
            _kind(function.bound),
            certain,
            tuple(map(_kind, arguments or ())),
            arguments is None,
            more,
            self.one_graph,
        )
        if key in self._results:
            result, breaks = self._results[key]
            self.breaks += breaks
            return result
        decorators = (self.name_of(function.module, each) for each in getattr(function.node, "decorator_list", ()))
        if is_generator(function.node) and CONTEXT_MANAGER not in decorators:  # which only `with` calls
            return OTHER  # its code runs only when it is iterated or awaited
        self._results[key] = UNKNOWN, False  # for recursive calls
        self._alive.append(function)  # the ids in keys must stay unique
        before = self.breaks
        frame = Frame(self, function, certain, depth)
        frame.bind(arguments, keywords, more=more)
        result = frame.run()
        self._results[key] = result, self.breaks > before
        return result

    def evaluate(self, module: WorkspaceModule, node: ast.expr) -> Value:
        return Frame.to_evaluate(self, module).evaluate(node)


def _kind(value: Value | None) -> object:
    """Return the key of an argument's value under which results of calls are kept."""
    if isinstance(value, FunctionValue):
        return id(value.node)
    if isinstance(value, Instance):
        given = value.given or {}
        return (id(value.info), value.exact, *((name, _kind(each)) for name, each in given.items()))
    if isinstance(value, Class):
        return id(value.info)
    if isinstance(value, Several):
        return ("several", value.called, value.repeated, *map(_kind, value.items[:4]))
    if isinstance(value, LiteralValue):
        return (
            (type(value.value), value.value) if isinstance(value.value, bool | int | str | None) else type(value.value)
        )
    return value if not isinstance(value, ModuleValue) else id(value.module)
