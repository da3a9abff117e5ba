"""Calls: of functions of the workspace, which are followed, and of everybody else's, for which there are rules."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.program import Program
from dynascope_lsp.prediction.rules import Rule
from dynascope_lsp.prediction.torch_names import (
    CONTEXTS,
    DISABLING,
    LAYERS,
    MASKS,
    NOT_TRACED,
    RETURN_THEMSELVES,
    TELLING_METHODS,
    TENSOR_METHODS,
    result_of,
)
from dynascope_lsp.prediction.values import (
    DISABLED,
    LOGGER,
    MASK,
    MAYBE_TENSOR,
    TENSOR,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    Named,
    Several,
    Value,
    is_tensor,
    may_be_tensor,
)


class Calls(ABC):
    """The half of a frame that calls; it holds the frame's state."""

    def __init__(self, program: Program, function: Function, certain: bool, depth: int) -> None:
        self._program = program
        self._function = function
        self._module = function.module
        self._certain = certain
        self._depth = depth
        self.names: dict[str, Value] = dict(function.closure or {})
        self._returned: list[Value] = []
        self._unresumable = 0
        self._uncompiled = False
        self._name = getattr(function.node, "name", "<lambda>")

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """What is known of an expression's value; reports what breaks in it."""

    def _report(self, node: ast.expr | ast.stmt, rule: Rule) -> None:
        if not self._certain or self._uncompiled:
            return
        if any(module.sets(option) for option in rule.unless for module in self._program.modules.values()):
            return
        self._program.report(self._module, node, rule, self._name)
        self._program.breaks += 1
        if self._unresumable:
            self._uncompiled = True

    def _call(self, node: ast.Call) -> Value:
        receiver: Value | None = None
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            if may_be_tensor(receiver) or receiver == LOGGER:
                return self._method_call(node, node.func.attr, receiver)
            if isinstance(receiver, Instance) and self._returns_itself(receiver, node.func.attr):
                return receiver
        if isinstance(node.func, ast.Call) and dotted(node.func.func) == "super":
            return UNKNOWN
        function = self._super_method(node.func) or self.evaluate(node.func)
        arguments = [self.evaluate(each) for each in node.args]
        keywords = {each.arg: self.evaluate(each.value) for each in node.keywords if each.arg is not None}
        starred = [place for place, each in enumerate(node.args) if isinstance(each, ast.Starred)]
        more = bool(starred) or any(each.arg is None for each in node.keywords)
        return self._apply(node, function, arguments[: starred[0]] if starred else arguments, keywords, more)

    def _returns_itself(self, receiver: Instance, method: str) -> bool:
        """`Model().cuda()` is that model, unless its class says otherwise."""
        return method in RETURN_THEMSELVES and self._program.method(receiver.info, method) is None

    def _apply(
        self, node: ast.Call, function: Value, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        match function:
            case Named(name):
                return self._call_of_named(node, name, arguments)
            case Function():
                before = self._program.breaks
                result = self._program.call(
                    function,
                    arguments,
                    keywords,
                    certain=self._certain,
                    depth=self._depth + 1,
                    more=more,
                )
                if self._unresumable and self._program.breaks > before:
                    self._uncompiled = True  # it breaks here, too: at the call
                return result
            case Instance(info):
                forward = self._program.method(info, "forward") or self._program.method(info, "__call__")
                if forward is not None:
                    bound = self._program.decorated(Function(forward.module, forward.node, forward.owner, function))
                    return self._apply(node, bound, arguments, keywords, more)
                return UNKNOWN
            case Class(info):
                return Instance(info)
            case Several(items, True):
                result = arguments[0] if arguments else UNKNOWN
                for each in items:
                    result = self._apply(node, each, [result], {}, False)
                return result
        return UNKNOWN

    def _super_method(self, func: ast.expr) -> Value | None:
        """`super().forward`, in a method."""
        owner = self._function.owner
        if (
            owner is None
            or not isinstance(func, ast.Attribute)
            or not isinstance(func.value, ast.Call)
            or dotted(func.value.func) != "super"
        ):
            return None
        for each in self._program.bases(owner)[1:]:
            if func.attr in each.methods:
                return Function(each.module, each.methods[func.attr], each, self._function.bound)
        return None

    def _call_of_named(self, node: ast.Call, name: str, arguments: list[Value]) -> Value:
        """Something from outside of the workspace is called."""
        if name == DISABLED.name:
            self._report(node, rules.DISABLED)
            return UNKNOWN
        if name in ("builtins.all", "builtins.any"):
            if isinstance(node.args[0] if node.args else None, ast.GeneratorExp) and isinstance(arguments[0], Several):
                if _holds_tensors(arguments[0]):
                    self._report(node, rules.BRANCH)
                    self._uncompiled |= self._certain  # the generator cannot be resumed
                elif MAYBE_TENSOR in arguments[0].items:
                    self._certain = False
            return UNKNOWN
        if name in rules.FUNCTIONS:
            self._report(node, rules.FUNCTIONS[name])
            return LOGGER if name == "logging.getLogger" else UNKNOWN
        if name in rules.TENSOR_FUNCTIONS and arguments and (is_tensor(arguments[0]) or name.startswith("torch.")):
            self._report(node, rules.TENSOR_FUNCTIONS[name])
            return (
                TENSOR if name.startswith("torch.") and rules.TENSOR_FUNCTIONS[name] is rules.DYNAMIC_SHAPE else UNKNOWN
            )
        if name == "torch.where":
            if len(node.args) == 1 and not node.keywords and arguments and is_tensor(arguments[0]):
                self._report(node, rules.DYNAMIC_SHAPE)
                return UNKNOWN
            return TENSOR if len(node.args) == 3 else UNKNOWN
        if name in rules.MODULE_CONSTRUCTORS:
            self._report(node, rules.MODULE_MADE)
        if name in ("torch.nn.ModuleList", "torch.nn.Sequential"):
            if len(arguments) == 1 and isinstance(arguments[0], Several):
                items = arguments[0].items
            else:
                items = tuple(arguments)
            return Several(items, called=name.endswith("Sequential"))
        if name in rules.RECURRENT:
            return Named(f"{name}()")
        if name.removesuffix("()") in rules.RECURRENT:
            self._report(node, rules.RNN)
            return UNKNOWN
        if name.removesuffix("()") in LAYERS and not name.endswith("()"):
            return Named(f"{name}()") if name != "torch.nn.Parameter" else TENSOR
        if name.endswith("()") and name[:-2] in LAYERS:
            return TENSOR
        if name in ("torch.max", "torch.min") and len(node.args) == 1 and not node.keywords:
            return TENSOR
        if name in ("torch.compile", "functools.partial") and arguments:
            return arguments[0] if name == "torch.compile" else UNKNOWN
        if name in NOT_TRACED:
            return DISABLED if name in DISABLING else UNKNOWN
        if name in ("builtins.isinstance",) and len(node.args) == 2 and arguments and is_tensor(arguments[0]):
            return Constant(True) if self._program.name_of(self._module, node.args[1]) == "torch.Tensor" else UNKNOWN
        if name in ("builtins.enumerate", "builtins.reversed", "builtins.list", "builtins.tuple", "builtins.zip"):
            return _iterated(name, arguments)
        if name in CONTEXTS:
            return Named(f"{name}()")
        return result_of(name) or UNKNOWN

    def _method_call(self, node: ast.Call, method: str, receiver: Value) -> Value:
        """A method of a tensor, or of what may be one."""
        arguments = [self.evaluate(each) for each in node.args]
        for each in node.keywords:
            self.evaluate(each.value)
        if receiver == LOGGER:
            if method in rules.LOGGER_METHODS:
                self._report(node, rules.LOGGING)
            return UNKNOWN
        known = is_tensor(receiver) or (receiver == MAYBE_TENSOR and self._looks_like_a_tensors(node, method))
        if method in rules.METHODS and known:
            self._report(node, rules.METHODS[method])
            return TENSOR if rules.METHODS[method] is rules.DYNAMIC_SHAPE and method != "nonzero" else UNKNOWN
        if (
            method in ("max", "min", "median")
            and (node.args or node.keywords)
            and not (arguments and is_tensor(arguments[0]))
        ):
            return UNKNOWN
        if is_tensor(receiver):
            if method in MASKS or method == "bool":
                return MASK
            return TENSOR if method in TENSOR_METHODS else UNKNOWN
        if receiver == MAYBE_TENSOR and method in TELLING_METHODS and self._looks_like_a_tensors(node, method):
            return MASK if method in MASKS else TENSOR
        return MAYBE_TENSOR if receiver == MAYBE_TENSOR and method in TENSOR_METHODS else UNKNOWN

    def _looks_like_a_tensors(self, node: ast.Call, method: str) -> bool:
        """Whether a method of an argument of which nothing is said is a tensor's: not one of a class of the program,
        nor the `backward(loss)` of whatever drives the training."""
        if method in ("backward", "item", "tolist") and node.args:
            return False
        return not self._program.has_method(method)


def _holds_tensors(value: Value) -> bool:
    return isinstance(value, Several) and any(map(is_tensor, value.items))


def _iterated(name: str, arguments: list[Value]) -> Value:
    if not arguments:
        return UNKNOWN
    first = arguments[0]
    if name == "builtins.enumerate" and isinstance(first, Several):
        return Several(tuple(Several((UNKNOWN, each)) for each in first.items))
    return (
        first
        if name in ("builtins.list", "builtins.tuple", "builtins.reversed") and isinstance(first, Several)
        else UNKNOWN
    )
