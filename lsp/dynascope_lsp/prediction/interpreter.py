"""Follow the code from one site, call by call; `frame` interprets the body of each function.

Reports are kept by place and rule, results of calls by function and kinds of arguments, so that each is found once.
"""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable

from msgspec import structs

from dynascope_lsp.prediction.annotations import promised
from dynascope_lsp.prediction.control_flow import is_generator
from dynascope_lsp.prediction.frame import Frame
from dynascope_lsp.prediction.modules import WorkspaceModule
from dynascope_lsp.prediction.program import Made, ProgramNames
from dynascope_lsp.prediction.torch_names import CONTEXT_MANAGER
from dynascope_lsp.prediction.values import (
    OTHER,
    UNKNOWN,
    FunctionValue,
    Instance,
    Unknown,
    Value,
    holds_a_mapping,
    kind_of,
)

log = logging.getLogger(__name__)

DEPTH = 24
CALLS = 8
"""The most calls of a function whose arguments are kept."""


class Interpreter(ProgramNames):
    """Interpret the program from one site."""

    def __init__(self, import_module: Callable[[WorkspaceModule, str, int], WorkspaceModule | None]) -> None:
        super().__init__(import_module)
        self._alive: list[FunctionValue] = []
        self._results: dict[object, tuple[Value, bool]] = {}
        """The result of a call, and whether there was a break in it."""
        self._made: dict[object, Made] = {}
        self._calls: dict[int, list[tuple[list[Value], dict[str, Value], bool]]] = {}
        """The arguments of calls of each function, by its node's id: those met while sites are looked for."""

    def within_the_stack(self, interpret: Callable[[], object]) -> None:
        """Call a function, and leave off where code is nested too deeply for Python's stack."""
        try:
            interpret()
        except RecursionError:
            log.info("a part of the code is nested too deeply to be interpreted")
            self.attributes_met.clear()

    def trace(self, function: FunctionValue) -> None:
        """Interpret a function as the root frame of a compile."""
        self.one_graph = function.one_graph
        seen: set[object] = set()
        for call in [*self._calls.get(id(function.node), []), None]:
            frame = Frame(self, function, True, 0)
            frame.bind(None, {})
            if call is not None:
                frame.learn(*call)
            kinds = tuple(map(kind_of, frame.names.values()))
            if kinds not in seen and (call is not None or not seen):
                seen.add(kinds)
                frame.run()

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
        if self.sites is not None and arguments is not None:
            calls = self._calls.setdefault(id(function.node), [])
            calls += [(arguments, keywords, more)] if len(calls) < CALLS else []
        key = (
            id(function.node),
            id(function.closure),
            kind_of(function.bound),
            certain,
            tuple(map(kind_of, arguments or ())),
            tuple((name, kind_of(each)) for name, each in keywords.items()),
            arguments is None,
            more,
            self.one_graph,
        )
        made = self._made_by(function)
        if made is None and key in self._results:
            result, breaks = self._results[key]
            self.breaks += breaks
            return result
        decorators = (self.name_of(function.module, each) for each in getattr(function.node, "decorator_list", ()))
        if is_generator(function.node) and CONTEXT_MANAGER not in decorators:  # which only `with` calls
            return OTHER  # its code runs only when it is iterated or awaited
        if made is not None:
            made.ran.add(id(function.node))
        self._results[key] = UNKNOWN, False  # for recursive calls
        self._alive.append(function)  # the ids in keys must stay unique
        before = self.breaks
        frame = Frame(self, function, certain, depth)
        frame.bind(arguments, keywords, more=more)
        result = frame.run()
        returns = getattr(function.node, "returns", None)
        if isinstance(result, Unknown) and returns is not None:
            result = promised(self, function.module, returns)
        given = (*(arguments or ()), *keywords.values(), result)
        if any(map(holds_a_mapping, given)):  # it may be another one in the next call
            self._results.pop(key, None)
        else:
            self._results[key] = result, self.breaks > before
        return result

    def _made_by(self, function: FunctionValue) -> Made | None:
        """Return what is known of the object that is being made, if a method of it is called."""
        instance, made = self._making[-1] if self._making else (None, None)
        return made if instance is not None and function.bound is instance else None

    def attributes_made(self, instance: Instance) -> Made:
        key = kind_of(instance)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = Made({}, set())
            init = self.method(instance.info, "__init__")
            if init is not None:
                function = structs.replace(init, bound=instance)
                self._alive.append(function)
                made.ran.add(id(init.node))
                self._making.append((instance, made))
                try:
                    Frame.to_make(self, function).run()
                finally:
                    self._making.pop()
        return made

    def evaluate(self, module: WorkspaceModule, node: ast.expr) -> Value:
        return Frame.to_evaluate(self, module).evaluate(node)

    def apply(self, module: WorkspaceModule, function: Value, argument: Value) -> Value:
        return Frame.to_evaluate(self, module).apply(function, argument)
