"""Resolve the names of a program through imports, classes and decorators."""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from msgspec import Struct, structs

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction.modules import ClassInfo, WorkspaceModule
from dynascope_lsp.prediction.rules import Rule
from dynascope_lsp.prediction.torch_names import CLASS_DECORATORS, DISABLING, TRANSPARENT, usual_name
from dynascope_lsp.prediction.values import (
    DISABLED,
    EITHER,
    UNKNOWN,
    Class,
    FunctionValue,
    Instance,
    Keyed,
    LiteralValue,
    ModuleValue,
    Named,
    Partial,
    Several,
    Value,
    kind_of,
    truth,
)

BUDGET = 60_000
"""The most expressions and statements evaluated from one site: some 100 ms."""
_DECORATORS = 4
"""The most decorators that are followed inside of one another."""


class Report(Struct, frozen=True):
    """A graph break that a rule predicts at a node."""

    module: WorkspaceModule
    node: ast.expr | ast.stmt
    rule: Rule
    function: str


class Made(Struct):
    """The attributes that `__init__` gives an object, and the ids of the functions that ran for it."""

    state: dict[str, Value]
    ran: set[int]


class ProgramNames(ABC):
    """The names of a program; `import_module` finds workspace modules, a subclass runs calls."""

    def __init__(self, import_module: Callable[[WorkspaceModule, str, int], WorkspaceModule | None]) -> None:
        self.modules: dict[str, WorkspaceModule] = {}
        self.reports: dict[tuple[str, int, int, str], Report] = {}
        self.budget = BUDGET
        self._import = import_module
        self._decorating = 0
        self._globals: dict[tuple[str, str], Value] = {}
        self._overridden: dict[ClassInfo, set[str]] = {}
        self._classes_seen: set[str] = set()
        """Paths of the modules whose classes are in `_overridden`."""
        self.attributes_met: dict[tuple[int, str], Value] = {}
        """Values so far of the attributes being evaluated, by the id of the class and the name."""
        self.one_graph = False
        """Whether what is interpreted is compiled with `fullgraph=True`."""
        self.breaks = 0
        """The number of breaks found so far."""
        self._decorated: set[str] = set()
        """The paths of imported modules in which what is decorated has been evaluated."""
        self._given_outside: dict[tuple[int, str], list[Value]] = {}
        self._making: list[tuple[Instance, Made]] = []
        """The objects whose `__init__` is being interpreted, the innermost last."""
        self.sites: dict[object, FunctionValue] | None = None
        """The root functions of the compiles met, while these are looked for."""

    @abstractmethod
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
        """Return the result of a call of a function.

        `arguments` is None when they are unknown (in the call that compiles it); `more`: `*args` follow them.
        """

    @abstractmethod
    def evaluate(self, module: WorkspaceModule, node: ast.expr) -> Value:
        """Return the abstract value of an expression at a module's top level."""

    @abstractmethod
    def apply(self, module: WorkspaceModule, function: Value, argument: Value) -> Value:
        """Return the result of a call of any value with one argument, such as that of a decorator."""

    @abstractmethod
    def attributes_made(self, instance: Instance) -> Made:
        """Return the attributes that `__init__` gives an object, or has given it so far."""

    def state_in_the_making(self, instance: Instance) -> dict[str, Value] | None:
        """Return the attributes of an object whose `__init__` is being interpreted, else None."""
        return self._making[-1][1].state if self._making and self._making[-1][0] is instance else None

    def compile(self, value: Value, options: dict[str, Value]) -> None:
        """Record the functions that `torch.compile` compiles of a value, while sites are looked for."""
        if self.sites is None or truth(options.get("disable", LiteralValue(False))) is not False:
            return
        one_graph = truth(options.get("fullgraph", LiteralValue(False))) is not False
        for each in self._run_by(value):
            key = id(each.node), kind_of(each.bound), one_graph
            if key not in self.sites or self.sites[key].closure is None:
                self.sites[key] = structs.replace(each, one_graph=one_graph)

    def _run_by(self, value: Value) -> Iterator[FunctionValue]:
        """Iterate over the functions that run when a value is called."""
        if isinstance(value, FunctionValue):
            yield value
        elif isinstance(value, Several) and value.called:
            for each in value.items:
                yield from self._run_by(each)
        elif isinstance(value, Partial):
            yield from self._run_by(value.function)
        elif isinstance(value, Instance) and (forward := self.called(value)) is not None:
            yield forward

    def is_module(self, value: Value) -> bool:
        """Whether a value's `compile` is torch.nn.Module's: it has a base class, none has its own."""
        if isinstance(value, Several):
            return value.called
        if not isinstance(value, Instance) or self.method(value.info, "compile") is not None:
            return False
        return any(len(each.node.bases) > 0 for each in self.bases(value.info))

    def report(self, module: WorkspaceModule, node: ast.expr | ast.stmt, rule: Rule, function: str) -> None:
        """Record that a rule predicts a break at a node."""
        key = module.path, node.lineno, node.col_offset, rule.name
        self.reports.setdefault(key, Report(module, node, rule, function))

    def spend(self) -> bool:
        """Whether the budget allows to evaluate one more node, which this call counts."""
        self.budget -= 1
        return self.budget > 0

    def global_value(self, module: WorkspaceModule, name: str) -> Value:
        """Return the value of a name at a module's top level."""
        self.modules[module.path] = module
        key = (module.path, name)
        if key not in self._globals:
            self._globals[key] = UNKNOWN  # for names defined by each other
            self._globals[key] = self._global_value(module, name)
        return self._globals[key]

    def assigned(self, module: WorkspaceModule, name: str, value: Value) -> None:
        """Take the value that the module's top level, which is being interpreted, gives a name."""
        if name in module.assigned:
            self._globals[module.path, name] = value

    def _global_value(self, module: WorkspaceModule, name: str) -> Value:
        if name in module.functions:
            return self.decorated(FunctionValue(module, module.functions[name]))
        if name in module.classes:
            info = module.classes[name]
            return Class(info) if self._is_as_written(info) else UNKNOWN
        if name in module.assigned:
            expression = module.assigned[name]
            value = UNKNOWN if expression is None else self.evaluate(module, expression)
            if isinstance(value, Keyed):
                self._globals[module.path, name] = value
                self._run_decorators(module)
            return value
        if name in module.imports:
            return self.imported(module, *module.imports[name])
        return Named(f"builtins.{name}") if hasattr(builtins, name) and not module.imports_everything else UNKNOWN

    def _run_decorators(self, module: WorkspaceModule) -> None:
        """Evaluate what is decorated in a module: decorators may fill a mapping, as registries do."""
        for name, node in [*module.functions.items(), *module.classes.items()]:
            if (node.node if isinstance(node, ClassInfo) else node).decorator_list:
                self.global_value(module, name)

    def _is_as_written(self, info: ClassInfo) -> bool:
        """Whether a class's decorators leave its methods as they are."""
        for each in reversed(info.node.decorator_list):
            name = self.name_of(info.module, each.func if isinstance(each, ast.Call) else each)
            if name in CLASS_DECORATORS:
                continue
            decorated = self.apply(info.module, self.evaluate(info.module, each), Class(info)) if name is None else None
            if not isinstance(decorated, Class) or decorated.info is not info:
                return False
        return True

    def imported(self, module: WorkspaceModule, origin: str, name: str | None, level: int) -> Value:
        found = self._import(module, origin, level)
        if found is not None and self.sites is not None and found.path not in self._decorated:
            self._decorated.add(found.path)
            self._run_decorators(found)
        if found is not None and name is not None and (value := self.global_value(found, name)) != UNKNOWN:
            return value
        meant = found if name is None else self._import(module, f"{origin}.{name}" if origin else name, level)
        if meant is not None:
            self.modules[meant.path] = meant
            return ModuleValue(meant)
        if found is not None or level:
            return UNKNOWN
        return Named(usual_name(f"{origin}.{name}" if name else origin))

    def decorated(self, function: FunctionValue) -> Value:
        """Apply a function's decorators: those of the workspace, and some of libraries."""
        assert not isinstance(function.node, ast.Lambda)
        value: Value = structs.replace(function, bound=None)
        disabled = False
        for decorator in reversed(function.node.decorator_list):
            name = self.name_of(function.module, decorator.func if isinstance(decorator, ast.Call) else decorator)
            disabled |= name in DISABLING
            if name not in TRANSPARENT and name not in DISABLING:
                value = self._applied(function, decorator, value)
        if disabled:
            return DISABLED
        return structs.replace(value, bound=function.bound) if isinstance(value, FunctionValue) else UNKNOWN

    def _applied(self, function: FunctionValue, decorator: ast.expr, value: Value) -> Value:
        maker = self.evaluate(function.module, decorator)
        if not isinstance(maker, FunctionValue | Partial | Named) or self._decorating >= _DECORATORS:
            return UNKNOWN
        given = structs.replace(value, bound=function.bound) if isinstance(value, FunctionValue) else value
        self._decorating += 1
        try:
            return self.apply(function.module, maker, given)
        finally:
            self._decorating -= 1

    def name_of(self, module: WorkspaceModule, node: ast.expr) -> str | None:
        """Return the full name of an expression that means a name outside the workspace, or None."""
        name = dotted(node)
        if name is None:
            return None
        head, _, rest = name.partition(".")
        value = self.global_value(module, head)
        if not isinstance(value, Named):
            return None
        return usual_name(f"{value.name}.{rest}" if rest else value.name)

    def method(self, info: ClassInfo, name: str) -> FunctionValue | None:
        """Find a method of a class, or of its bases in the workspace."""
        for each in self.bases(info):
            if name in each.methods:
                return FunctionValue(each.module, each.methods[name], each)
        return None

    def called(self, instance: Instance) -> FunctionValue | None:
        """Return the bound method that a call of an object runs."""
        found = self.method(instance.info, "forward") or self.method(instance.info, "__call__")
        return None if found is None else structs.replace(found, bound=instance)

    def overridden(self, info: ClassInfo, name: str) -> bool:
        """Whether a subclass defines a method of that name."""
        for module in [each for path, each in self.modules.items() if path not in self._classes_seen]:
            self._classes_seen.add(module.path)
            for each in module.classes.values():
                for base in self.bases(each)[1:]:
                    self._overridden.setdefault(base, set()).update(each.methods)
        return name in self._overridden.get(info, ())

    def has_method(self, name: str) -> bool:
        """Whether any class of the modules read so far has a method of that name."""
        return any(name in module.method_names for module in self.modules.values())

    def training(self) -> Value:
        """Return `module.training`: EITHER where the program calls both `train()` and `eval()`."""
        trained, evaluated = (
            any(call in each.text.source for each in self.modules.values()) for call in (".train(", ".eval()")
        )
        return EITHER if trained and evaluated else LiteralValue(not evaluated)

    def set_outside(self, name: str) -> bool:
        """Whether an attribute of that name is assigned outside of its class."""
        return any(name in module.attributes_set for module in self.modules.values())

    def give_outside(self, info: ClassInfo, name: str, value: Value) -> None:
        """Take a value that an attribute is given outside of its class."""
        if self.sites is not None:
            self._given_outside.setdefault((id(info), name), []).append(value)

    def given_outside(self, info: ClassInfo, name: str) -> list[Value]:
        return [each for base in self.bases(info) for each in self._given_outside.get((id(base), name), ())]

    def bases(self, info: ClassInfo) -> list[ClassInfo]:
        """List the class and its base classes, as far as they are in the workspace."""
        found: list[ClassInfo] = []
        todo = [info]
        while todo and len(found) < 16:
            each = todo.pop(0)
            if each in found:
                continue
            found.append(each)
            for base in each.node.bases:
                value = self._value_of_base(each.module, base)
                if isinstance(value, Class):
                    todo.append(value.info)
        return found

    def _value_of_base(self, module: WorkspaceModule, base: ast.expr) -> Value:
        head, _, rest = (dotted(base) or "").partition(".")
        value = self.global_value(module, head) if head else UNKNOWN
        if rest:
            return self.global_value(value.module, rest) if isinstance(value, ModuleValue) else UNKNOWN
        return value
