"""Evaluate calls of the workspace's functions, of tensor methods, and of other functions."""

from __future__ import annotations

import ast
from abc import abstractmethod

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction.modules import ClassInfo
from dynascope_lsp.prediction.named_calls import NamedCalls
from dynascope_lsp.prediction.tables import rules
from dynascope_lsp.prediction.tables.torch_names import (
    MASKS,
    MORE_TENSOR_METHODS,
    RETURN_THEMSELVES,
    SEVERAL_TENSORS,
    TELLING_METHODS,
    TENSOR_METHODS,
)
from dynascope_lsp.prediction.values import (
    LOGGER,
    MASK,
    MAYBE_MASK,
    MAYBE_TENSOR,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Named,
    Several,
    Value,
    is_tensor,
    may_be_tensor,
    maybe_tensor,
)


class Calls(NamedCalls):
    """The part of a frame that evaluates calls."""

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression, and report the breaks in it."""

    @abstractmethod
    def _given_to(self, info: ClassInfo, arguments: list[Value], keywords: dict[str, Value], more: bool) -> Instance:
        """Return the instance that a call of a class creates."""

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            if receiver == LOGGER:
                return self._logger_call(node)
            if may_be_tensor(receiver):
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
        """Whether a method returns its own object, as in `Model().cuda()`."""
        return method in RETURN_THEMSELVES and self._program.method(receiver.info, method) is None

    def _apply(
        self, node: ast.Call, function: Value, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        match function:
            case Named(name):
                return self._call_of_named(node, name, arguments, keywords)
            case Function():
                return self._call_of_function(function, arguments, keywords, more)
            case Instance(info):
                forward = self._program.method(info, "forward") or self._program.method(info, "__call__")
                if forward is not None:
                    bound = self._program.decorated(Function(forward.module, forward.node, forward.owner, function))
                    return self._apply(node, bound, arguments, keywords, more)
                return UNKNOWN
            case Class(info):
                return self._given_to(info, arguments, keywords, more)
            case Several(items, True):
                result = arguments[0] if arguments else UNKNOWN
                for each in items:
                    result = self._apply(node, each, [result], {}, False)
                return result
        given = [*arguments, *keywords.values()]
        likely = any(is_tensor(each) or maybe_tensor(each) for each in given)
        return MAYBE_TENSOR if maybe_tensor(function) and likely else UNKNOWN

    def _call_of_function(
        self, function: Function, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        before = self._program.breaks
        result = self._program.call(
            function, arguments, keywords, certain=self._certain, depth=self._depth + 1, more=more
        )
        if self._unresumable and self._program.breaks > before:
            self._uncompiled = True  # the call breaks in this frame, too
        return result

    def _super_method(self, func: ast.expr) -> Value | None:
        """Return the base class's method for `super().forward`, or None."""
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

    def _logger_call(self, node: ast.Call) -> Value:
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.evaluate(each)
        self._report(node, rules.LOGGING)
        return UNKNOWN

    def _method_call(self, node: ast.Call, method: str, receiver: Value) -> Value:
        """Evaluate a call of a method of a value that is or may be a tensor."""
        arguments = [self.evaluate(each) for each in node.args]
        for each in node.keywords:
            self.evaluate(each.value)
        known = is_tensor(receiver) or (maybe_tensor(receiver) and self._looks_like_a_tensors(node, method))
        if method in rules.METHODS and known:
            self._report(node, rules.METHODS[method])
            return TENSOR if rules.METHODS[method] is rules.DYNAMIC_SHAPE else UNKNOWN
        if known and self._gives_several(node, method, arguments):
            return TENSORS
        return self._result_of_method(method, receiver, known)

    def _gives_several(self, node: ast.Call, method: str, arguments: list[Value]) -> bool:
        if method in ("max", "min", "median"):
            return bool(node.args or node.keywords) and not (arguments and is_tensor(arguments[0]))
        return method in SEVERAL_TENSORS

    def _result_of_method(self, method: str, receiver: Value, known: bool) -> Value:
        if is_tensor(receiver):
            if method in MASKS or method == "bool":
                return MASK
            in_place = method.endswith("_") and not method.endswith("__")
            return TENSOR if in_place or method in TENSOR_METHODS or method in MORE_TENSOR_METHODS else UNKNOWN
        if not maybe_tensor(receiver):
            return UNKNOWN
        if known and method in TELLING_METHODS:
            return MASK if method in MASKS else TENSOR
        if method in MASKS:
            return MAYBE_MASK
        return MAYBE_TENSOR if method in TENSOR_METHODS or method in MORE_TENSOR_METHODS else UNKNOWN

    def _looks_like_a_tensors(self, node: ast.Call, method: str) -> bool:
        """Whether a method of an argument of unknown type is most likely a tensor's.

        Not if a class of the program has a method of that name, or in a call such as `engine.backward(loss)`.
        """
        if method in ("backward", "item", "tolist") and node.args:
            return False
        return not self._program.has_method(method)
