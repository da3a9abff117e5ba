"""Evaluate calls of functions outside of the workspace, by the tables of `rules`."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable

from msgspec import structs

from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.program import ProgramNames
from dynascope_lsp.prediction.rules import Rule
from dynascope_lsp.prediction.torch_names import (
    COMPILE,
    CONTEXTS,
    DISABLING,
    LISTS,
    MODULE_CONSTRUCTORS,
    NOT_TRACED,
    RETURN_THEMSELVES,
    gives_tensors,
    is_layer,
    result_of,
)
from dynascope_lsp.prediction.values import (
    DISABLED,
    LOGGER,
    MASK,
    RANDOM,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Class,
    FunctionValue,
    Keyed,
    LiteralValue,
    ModuleValue,
    Named,
    Other,
    Partial,
    Several,
    Value,
    combined,
    is_tensor,
    item_of,
    may_be_tensor,
    maybe_tensor,
)


class NamedCalls(ast.NodeVisitor, ABC):
    """The part of a frame that evaluates calls by full name; it sets up the frame's state."""

    def __init__(self, program: ProgramNames, function: FunctionValue, certain: bool, depth: int) -> None:
        self._program = program
        self._function = function
        self._module = function.module
        self._certain = certain
        self._depth = depth
        self.names: dict[str, Value] = dict(function.closure or {})
        self._returned: list[Value] = []
        self._unresumable = 0
        self._doubts = 0
        """The number of blocks around the current place that may not run."""
        self._uncompiled = False
        self._name = getattr(function.node, "name", "<lambda>")

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression, and report the breaks in it."""

    @abstractmethod
    def _assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""

    def generic_visit(self, node: ast.AST) -> None:
        """Leave alone what no method is for, and what is in it."""

    @abstractmethod
    def _apply(
        self, node: ast.Call, function: Value, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        """Return the result of a call; `more`: `*args` or `**kwargs` follow the arguments."""

    def _report(self, node: ast.expr | ast.stmt, rule: Rule) -> None:
        if not self._certain or self._uncompiled:
            return
        if self._program.one_graph and not rule.in_one_graph:
            return
        if any(module.sets(option) for option in rule.unless for module in self._program.modules.values()):
            return
        self._program.report(self._module, node, rule, self._name)
        self._program.breaks += 1
        if self._unresumable or rule.skips_the_frame or not self._has_tensors_after(node):
            self._uncompiled = True

    def _has_tensors_after(self, node: ast.expr | ast.stmt) -> bool:
        """Whether a variable that is read after a node may hold a tensor or a module.

        Dynamo compiles no frame that has neither (`has_tensor_in_frame` of torch._dynamo.convert_frame), the rest of
        this one included.
        """
        after = {
            each.id
            for each in ast.walk(self._function.node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.lineno >= node.lineno
        }
        plain = Other | LiteralValue | Named | ModuleValue | FunctionValue | Class
        return any(name in after and not isinstance(value, plain) for name, value in self.names.items())

    def _call_of_named(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate a call of a function or class from outside of the workspace."""
        known = _BY_NAME.get(name)
        if known is not None:
            return known(self, node, name, arguments, keywords)
        if name in rules.FUNCTIONS:
            self._report(node, rules.FUNCTIONS[name])
            return LOGGER if name == "logging.getLogger" else UNKNOWN
        if name in rules.TENSOR_FUNCTIONS and arguments and (is_tensor(arguments[0]) or name.startswith("torch.")):
            rule = rules.TENSOR_FUNCTIONS[name]
            self._report(node, rule)
            return TENSOR if name.startswith("torch.") and rule is rules.DYNAMIC_SHAPE else UNKNOWN
        made, _, method = name.partition("()")
        if made != name:
            return self._call_of_object(node, made, method.removeprefix("."), arguments, keywords)
        if name.startswith(("random.", "numpy.random.")):
            return self._random(node, name)
        if name.startswith("numpy.") and arguments and is_tensor(arguments[0]):
            return TENSOR  # Dynamo traces NumPy as operations on tensors
        return self._made(node, name)

    def _made(self, node: ast.Call, name: str) -> Value:
        """Evaluate a call of a torch class or a torch function."""
        if name in MODULE_CONSTRUCTORS:
            self._report(node, rules.MODULE_MADE)
        if (
            is_layer(name)
            or name in rules.RECURRENT
            or name in CONTEXTS
            or name.startswith(("torch.distributions.", *rules.DRIVERS))
        ):
            return Named(f"{name}()")
        if name in NOT_TRACED:
            return DISABLED if name in DISABLING else UNKNOWN
        if gives_tensors(name):
            return TENSORS
        result = result_of(name)
        types = [self._program.name_of(self._module, each.value) for each in node.keywords if each.arg == "dtype"]
        if result == TENSOR and types and types[0] in ("torch.bool", "builtins.bool"):
            return MASK
        return result or UNKNOWN

    def _call_of_object(
        self, node: ast.Call, made: str, method: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        """Evaluate a call of an object of a class outside of the workspace, or of its method."""
        if made in rules.RECURRENT and not method:
            self._report(node, rules.RNN)
            return UNKNOWN
        if made.startswith(rules.DRIVERS):
            if method in rules.DRIVERS_METHODS:
                self._report(node, rules.OPTIMIZER)
            return arguments[0] if method == "scale" and arguments else UNKNOWN
        if not is_layer(made):
            return UNKNOWN
        if method in RETURN_THEMSELVES:
            return Named(f"{made}()")
        if method:
            return TENSORS if method in ("parameters", "buffers") else UNKNOWN
        return UNKNOWN if made in LISTS else TENSOR

    def _random(self, node: ast.Call, name: str) -> Value:
        module, _, function = name.rpartition(".")
        if module == "random" and function in rules.RANDOM_NUMBERS:
            return RANDOM
        if module == "numpy.random" and function == "seed":
            return UNKNOWN
        single = len(node.args) <= rules.NUMPY_RANDOM.get(function, 0) and not any(
            k.arg == "size" for k in node.keywords
        )
        if module == "random" or function not in rules.NUMPY_RANDOM or single:  # Dynamo reads the value of one number
            self._report(node, rules.RANDOM)
        return UNKNOWN

    def _all_or_any_of(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if isinstance(node.args[0] if node.args else None, ast.GeneratorExp) and isinstance(arguments[0], Several):
            if any(map(is_tensor, arguments[0].items)):
                self._report(node, rules.BRANCH)
                self._uncompiled |= self._certain  # the generator cannot be resumed
            elif any(map(maybe_tensor, arguments[0].items)):
                self._certain = False
        return UNKNOWN

    def _where(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if len(node.args) == 1 and not node.keywords:
            self._report(node, rules.DYNAMIC_SHAPE)
            return TENSORS
        return TENSOR if len(node.args) == 3 else UNKNOWN

    def _container(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        several = arguments[0] if len(arguments) == 1 and name.endswith("List") else Several(tuple(arguments))
        if not isinstance(several, Several):
            return UNKNOWN
        return structs.replace(several, called=name.endswith("Sequential"))

    def _attribute(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate `getattr(object, "name")`."""
        if len(node.args) > 1 and isinstance(arguments[1], LiteralValue) and isinstance(arguments[1].value, str):
            return self.evaluate(ast.Attribute(node.args[0], arguments[1].value, ast.Load()))
        return UNKNOWN

    def _set_attribute(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate `setattr(object, "name", value)`."""
        if len(arguments) == 3 and isinstance(arguments[1], LiteralValue) and isinstance(arguments[1].value, str):
            self._assign(ast.Attribute(node.args[0], arguments[1].value, ast.Store()), arguments[2])
        return LiteralValue(None)

    def _reduced(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate `max`, `min` or `sum` of Python over tensors."""
        first = arguments[0] if arguments else UNKNOWN
        values = list(first.items) if len(arguments) == 1 and isinstance(first, Several) else arguments
        if RANDOM in values and name != "builtins.sum":
            self._report(node, rules.BRANCH_ON_RANDOM)
            return UNKNOWN
        return combined(values) if len(values) > 1 else item_of(first)

    def _least_or_greatest(
        self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        return TENSOR if len(node.args) == 1 and not node.keywords else TENSORS

    def _range(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if RANDOM in arguments:
            self._report(node, rules.BRANCH_ON_RANDOM)
        elif any(map(is_tensor, arguments)):
            self._report(node, rules.BUILTIN)
        return UNKNOWN

    def _compile(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        target = arguments[0] if arguments else keywords.get("model")
        if target is None or target == LiteralValue(None):
            return Partial(Named(COMPILE), (), keywords)
        self._program.compile(target, keywords)
        return target

    def _partial(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        return Partial(arguments[0], tuple(arguments[1:]), keywords) if arguments else UNKNOWN

    def _mapping(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        first = arguments[0] if arguments else Keyed({})
        if not isinstance(first, Keyed):
            return UNKNOWN
        return Keyed({**first.items, **keywords}, first.default, first.has_others)

    def _copy(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if name in rules.TENSOR_FUNCTIONS and arguments and is_tensor(arguments[0]):
            self._report(node, rules.TENSOR_FUNCTIONS[name])
        return arguments[0] if arguments and not may_be_tensor(arguments[0]) else UNKNOWN

    def _is_instance(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if len(node.args) == 2 and arguments and is_tensor(arguments[0]):
            return (
                LiteralValue(True) if self._program.name_of(self._module, node.args[1]) == "torch.Tensor" else UNKNOWN
            )
        return UNKNOWN

    def _is_tensor(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        return LiteralValue(True) if arguments and is_tensor(arguments[0]) else UNKNOWN

    def _iterated(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        if name == "builtins.zip":
            return _zipped(arguments)
        first = arguments[0] if arguments else UNKNOWN
        if isinstance(first, Keyed):
            first = Several(tuple(map(LiteralValue, first.items)))
        if name == "builtins.enumerate" and isinstance(first, Several):
            return structs.replace(first, items=tuple(Several((UNKNOWN, each)) for each in first.items), called=False)
        if is_tensor(first) and name != "builtins.enumerate":
            return TENSORS
        return first if isinstance(first, Several) and name != "builtins.enumerate" else UNKNOWN

    def _checkpoint(self, node: ast.Call, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate a call under activation checkpointing, where a break is not at its own line."""
        certain, self._certain = self._certain, False
        result = self._apply(node, arguments[0], arguments[1:], {}, True) if arguments else UNKNOWN
        self._certain = certain
        return result


def _zipped(parts: list[Value]) -> Value:
    """Return the tuples that `zip` makes of containers, each of them if all items are known."""
    known = [each.items for each in parts if isinstance(each, Several) and not each.repeated]
    if parts and len(known) == len(parts):
        return Several(tuple(Several(each) for each in zip(*known, strict=False)))
    items = tuple(item_of(each) for each in parts)
    return Several((Several(items),), repeated=True) if any(each != UNKNOWN for each in items) else UNKNOWN


_BY_NAME: dict[str, Callable[[NamedCalls, ast.Call, str, list[Value], dict[str, Value]], Value]] = {
    **dict.fromkeys(("builtins.all", "builtins.any"), NamedCalls._all_or_any_of),
    **dict.fromkeys(("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList"), NamedCalls._container),
    "builtins.range": NamedCalls._range,
    "builtins.getattr": NamedCalls._attribute,
    "builtins.setattr": NamedCalls._set_attribute,
    **dict.fromkeys(("builtins.max", "builtins.min", "builtins.sum"), NamedCalls._reduced),
    **dict.fromkeys(("torch.max", "torch.min"), NamedCalls._least_or_greatest),
    **dict.fromkeys(
        ("builtins.enumerate", "builtins.reversed", "builtins.list", "builtins.tuple", "builtins.zip"),
        NamedCalls._iterated,
    ),
    **dict.fromkeys(("builtins.dict", "torch.nn.ModuleDict", "torch.nn.ParameterDict"), NamedCalls._mapping),
    **dict.fromkeys(("copy.copy", "copy.deepcopy"), NamedCalls._copy),
    "functools.partial": NamedCalls._partial,
    COMPILE: NamedCalls._compile,
    "torch.where": NamedCalls._where,
    "builtins.isinstance": NamedCalls._is_instance,
    "torch.is_tensor": NamedCalls._is_tensor,
    "torch.utils.checkpoint.checkpoint": NamedCalls._checkpoint,
}
