"""Evaluate attributes and calls: of tensors, layers, and the workspace's functions and objects."""

from __future__ import annotations

import ast
from abc import abstractmethod

from msgspec import structs

from dynascope_lsp.documents.syntax import FunctionNode, dotted
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.modules import ClassInfo
from dynascope_lsp.prediction.named_calls import NamedCalls
from dynascope_lsp.prediction.torch_names import (
    DISABLING,
    LAYER_TENSORS,
    MASKS,
    MORE_TENSOR_METHODS,
    RETURN_THEMSELVES,
    SEVERAL_TENSORS,
    TELLING_METHODS,
    TENSOR_ATTRIBUTES,
    TENSOR_CLASS,
    TENSOR_METHODS,
    is_layer,
    usual_name,
)
from dynascope_lsp.prediction.values import (
    DISABLED,
    LOGGER,
    MASK,
    MAYBE_MASK,
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Class,
    FunctionValue,
    Instance,
    LiteralValue,
    ModuleValue,
    Named,
    Several,
    TensorValue,
    Value,
    is_tensor,
    may_be_tensor,
    maybe_tensor,
    merged,
)


class Calls(NamedCalls):
    """The part of a frame that evaluates attributes and calls."""

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression, and report the breaks in it."""

    @abstractmethod
    def _given_to(self, info: ClassInfo, arguments: list[Value], keywords: dict[str, Value], more: bool) -> Instance:
        """Return the instance that a call of a class creates."""

    @abstractmethod
    def _value_of_attribute(
        self, owner: Instance, info: ClassInfo, value: ast.expr, method: FunctionNode | None
    ) -> Value:
        """Evaluate what a method assigns to an attribute."""

    def visit_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            if receiver == LOGGER:
                for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self.evaluate(each)
                self._report(node, rules.LOGGING)
                return UNKNOWN
            if may_be_tensor(receiver):
                return self._method_call(node, node.func.attr, receiver)
            name = node.func.attr
            if (
                isinstance(receiver, Instance)
                and name in RETURN_THEMSELVES
                and not self._program.method(receiver.info, name)
            ):
                return receiver  # as of `Model().cuda()`
        if isinstance(node.func, ast.Call) and dotted(node.func.func) == "super":
            return UNKNOWN
        function = self._super_method(node.func) or self.evaluate(node.func)
        arguments = [self.evaluate(each) for each in node.args]
        keywords = {each.arg: self.evaluate(each.value) for each in node.keywords if each.arg is not None}
        starred = [place for place, each in enumerate(node.args) if isinstance(each, ast.Starred)]
        more = bool(starred) or any(each.arg is None for each in node.keywords)
        return self._apply(node, function, arguments[: starred[0]] if starred else arguments, keywords, more)

    def _apply(
        self, node: ast.Call, function: Value, arguments: list[Value], keywords: dict[str, Value], more: bool
    ) -> Value:
        match function:
            case Named(name):
                return self._call_of_named(node, name, arguments, keywords)
            case FunctionValue():
                return self._call_of_function(function, arguments, keywords, more)
            case Instance():
                forward = self._program.called(function)
                if forward is None:
                    return UNKNOWN
                return self._apply(node, self._program.decorated(forward), arguments, keywords, more)
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
        self, function: FunctionValue, arguments: list[Value], keywords: dict[str, Value], more: bool
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
        match func:
            case ast.Attribute(ast.Call(ast.Name("super")), name) if owner is not None:
                for each in self._program.bases(owner)[1:]:
                    if name in each.methods:
                        return FunctionValue(each.module, each.methods[name], each, self._function.bound)
        return None

    def _method_call(self, node: ast.Call, method: str, receiver: Value) -> Value:
        """Evaluate a call of a method of a value that is or may be a tensor."""
        arguments = [self.evaluate(each) for each in node.args]
        for each in node.keywords:
            self.evaluate(each.value)
        known = is_tensor(receiver) or (maybe_tensor(receiver) and self._looks_like_a_tensors(node, method))
        if method in rules.METHODS and known:
            self._report(node, rules.METHODS[method])
            return TENSOR if rules.METHODS[method] is rules.DYNAMIC_SHAPE else UNKNOWN
        several = method in SEVERAL_TENSORS
        if method in ("max", "min", "median"):
            several = bool(node.args or node.keywords) and not (arguments and is_tensor(arguments[0]))
        return TENSORS if known and several else self._result_of_method(method, receiver, known)

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

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        owner = self.evaluate(node.value)
        match owner:
            case Named(name):
                if name.endswith("()") and is_layer(name[:-2]) and node.attr in LAYER_TENSORS:
                    return TENSOR
                return Named(usual_name(f"{name}.{node.attr}"))
            case ModuleValue(module):
                return self._program.global_value(module, node.attr)
            case Instance(info):
                return self._attribute_of(owner, info, node.attr)
            case Class(info):
                return self._program.method(info, node.attr) or UNKNOWN
            case TensorValue():
                return owner if node.attr in TENSOR_ATTRIBUTES else OTHER
        if owner == TENSORS and node.attr in ("values", "indices"):
            return TENSOR
        return MAYBE_TENSOR if maybe_tensor(owner) and node.attr in TENSOR_ATTRIBUTES else UNKNOWN

    def _attribute_of(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        for each in self._program.bases(info):
            if name in each.buffers:
                missing = isinstance(each.buffers[name], ast.Constant)
                return UNKNOWN if missing else TENSOR
        if self._program.set_outside(name) or (not owner.exact and self._program.overridden(info, name)):
            return UNKNOWN
        found = self._program.method(info, name)
        if found is not None:
            return self._method_of(owner, info, name, found)
        for each in self._program.bases(info):
            if name in each.attributes:
                return self._assigned_to(owner, each, name)
            if name in each.annotations:
                annotated = self._program.name_of(each.module, each.annotations[name])
                return (owner.given or {}).get(name) or (TENSOR if annotated == TENSOR_CLASS else UNKNOWN)
        return self._program.training() if name == "training" and info.node.bases else UNKNOWN

    def _method_of(self, owner: Instance, info: ClassInfo, name: str, found: FunctionValue) -> Value:
        replaced = self._replaced(info, name)
        if replaced is not None:
            return replaced
        assert not isinstance(found.node, ast.Lambda)
        if any(dotted(each) in ("property", "functools.cached_property") for each in found.node.decorator_list):
            return self._call_of_function(structs.replace(found, bound=owner), [], {}, False)
        bound = None if any(dotted(each) == "staticmethod" for each in found.node.decorator_list) else owner
        return self._program.decorated(structs.replace(found, bound=bound))

    def _assigned_to(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        """Evaluate an attribute by all values that are assigned to it."""
        places = info.attributes[name]
        if any(method is None for _, method in places) and (info.node.decorator_list or info.node.bases):
            return UNKNOWN  # only a default, such as that of a dataclass field
        key = (id(info), name)
        if key in self._program.attributes_met:
            return self._program.attributes_met[key]  # its value depends on itself
        values: list[Value] = []
        self._program.attributes_met[key] = UNKNOWN
        for value, method in places:
            if value is None:
                values.append(values[0] if values and is_tensor(values[0]) else UNKNOWN)
                continue
            values.append(self._value_of_attribute(owner, info, value, method))
            self._program.attributes_met[key] = values[0]
        del self._program.attributes_met[key]
        result = merged(*values)
        known = (
            isinstance(result, Instance | Several | Named | FunctionValue | LiteralValue | TensorValue)
            or result == LOGGER
        )
        return result if known or maybe_tensor(result) else UNKNOWN

    def _replaced(self, info: ClassInfo, name: str) -> Value | None:
        """Return the value that replaces a method by assignment, or None.

        For example `self.step = torch.compiler.disable(self.step)`.
        """
        for each in self._program.bases(info):
            for value, method in each.attributes.get(name, ()):
                if method is None:
                    continue
                called = self._program.name_of(each.module, value.func) if isinstance(value, ast.Call) else None
                if called in DISABLING:
                    return DISABLED
                if called != "torch.compile":
                    return UNKNOWN
        return None
