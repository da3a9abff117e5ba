"""Evaluate attributes and calls: of tensors, layers, and the workspace's functions and objects."""

from __future__ import annotations

import ast
from abc import abstractmethod

from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.modules import ClassInfo
from dynascope_lsp.prediction.objects import Objects
from dynascope_lsp.prediction.torch_names import (
    DISTRIBUTION_TENSORS,
    LAYER_TENSORS,
    MASKS,
    MORE_TENSOR_METHODS,
    RETURN_THEMSELVES,
    SEVERAL_TENSORS,
    TELLING_METHODS,
    TENSOR_ATTRIBUTES,
    TENSOR_METHODS,
    is_layer,
    usual_name,
)
from dynascope_lsp.prediction.values import (
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
    Keyed,
    LiteralValue,
    ModuleValue,
    Named,
    Partial,
    Several,
    TensorValue,
    Value,
    is_tensor,
    joined,
    may_be_tensor,
    maybe_tensor,
)


class Calls(Objects):
    """The part of a frame that evaluates attributes and calls."""

    @abstractmethod
    def _given_to(self, info: ClassInfo, arguments: list[Value], keywords: dict[str, Value], more: bool) -> Instance:
        """Return the instance that a call of a class creates."""

    def visit_Call(self, node: ast.Call) -> Value:
        inherited = self._super_method(node.func)
        if inherited is None and isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            if receiver == LOGGER:
                for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self.evaluate(each)
                self._report(node, rules.LOGGING)
                return UNKNOWN
            if may_be_tensor(receiver):
                return self._method_call(node, node.func.attr, receiver)
            name = node.func.attr
            if isinstance(receiver, Named) and receiver.name.startswith("torch.distributions."):
                self._arguments(node)
                return TENSOR if name in DISTRIBUTION_TENSORS else UNKNOWN
            if isinstance(receiver, Several | Keyed):
                return self._container_method(node, name, receiver)
            if name == "compile" and self._program.is_module(receiver):
                options = {each.arg: self.evaluate(each.value) for each in node.keywords if each.arg is not None}
                self._program.compile(receiver, options)
                return LiteralValue(None)
            if (
                isinstance(receiver, Instance)
                and name in RETURN_THEMSELVES
                and not self._program.method(receiver.info, name)
            ):
                return receiver  # as of `Model().cuda()`
        function = inherited or self.evaluate(node.func)
        arguments, keywords, more = self._arguments(node)
        return self._apply(node, function, arguments, keywords, more)

    def _arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value], bool]:
        """Evaluate the arguments of a call; the last item is whether more follow that are not known."""
        arguments: list[Value] = []
        more = False
        for each in node.args:
            if not isinstance(each, ast.Starred):
                value = self.evaluate(each)
                arguments += [value] if not more else []
                continue
            several = self.evaluate(each.value)
            if isinstance(several, Several) and not more:
                arguments += several.items
                more = several.repeated
            else:
                more = True
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Keyed):
                keywords |= {key: each for key, each in value.items.items() if isinstance(key, str)}
                more |= value.has_others or value.default != UNKNOWN
            else:
                more = True
        return arguments, keywords, more

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
            case Partial(called, first, options):
                return self._apply(node, called, [*first, *arguments], {**options, **keywords}, more)
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
        self._store_state()
        result = self._program.call(
            function, arguments, keywords, certain=self._certain, depth=self._depth + 1, more=more
        )
        self._load_state()
        if self._unresumable and self._program.breaks > before:
            self._uncompiled = True  # the call breaks in this frame, too
        return result

    def _container_method(self, node: ast.Call, method: str, container: Several | Keyed) -> Value:
        """Evaluate a call of a method of a list, a mapping or a container of modules."""
        arguments, keywords, _ = self._arguments(node)
        if isinstance(container, Keyed):
            return self._mapping_method(method, container, arguments, keywords)
        assert isinstance(node.func, ast.Attribute)
        if method == "compile" and self._program.is_module(container):
            self._program.compile(container, keywords)
        elif method in RETURN_THEMSELVES:
            return container
        elif method in ("append", "extend") and len(arguments) == 1:
            added = Several((arguments[0],), repeated=self._unresumable > 0) if method == "append" else arguments[0]
            self._assign(node.func.value, joined(container, added) or UNKNOWN)
        return UNKNOWN

    def _mapping_method(
        self, method: str, container: Keyed, arguments: list[Value], keywords: dict[str, Value]
    ) -> Value:
        items = container.items
        key = arguments[0] if arguments else UNKNOWN
        default = arguments[1] if len(arguments) > 1 else LiteralValue(None)
        match method:
            case "values" | "items" | "keys":
                return _parts(container, method)
            case "get" | "setdefault" | "pop" if isinstance(key, LiteralValue):
                found = container.get(key.value, default)
                if method == "pop":
                    items.pop(key.value, None)
                elif method == "setdefault":
                    items.setdefault(key.value, found)
                return found
            case "update":
                for each in arguments:
                    items.update(each.items if isinstance(each, Keyed) else {})
                    container.has_others |= not isinstance(each, Keyed) or each.has_others
                items.update(keywords)
            case "clear":
                items.clear()
            case "setdefault" | "pop" | "popitem":
                container.forget()
        return UNKNOWN

    def _super_method(self, func: ast.expr) -> Value | None:
        """Return the method that `super().forward` means, or None."""
        owner, bound = self._function.owner, self._function.bound
        match func:
            case ast.Attribute(ast.Call(ast.Name("super")), name) if owner is not None:
                order = self._program.bases(bound.info if isinstance(bound, Instance) else owner)
                for each in order[order.index(owner) + 1 :] if owner in order else ():
                    if name in each.methods:
                        return FunctionValue(each.module, each.methods[name], each, bound)
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
                return self._of_class(info, node.attr)
            case TensorValue():
                return owner if node.attr in TENSOR_ATTRIBUTES else OTHER
        if owner == TENSORS and node.attr in ("values", "indices"):
            return TENSOR
        return MAYBE_TENSOR if maybe_tensor(owner) and node.attr in TENSOR_ATTRIBUTES else UNKNOWN


def _parts(container: Keyed, method: str) -> Value:
    """Return the keys, values or items of a mapping."""
    if container.has_others or container.default != UNKNOWN:
        value = container.default
        parts: dict[str, Value] = {"keys": UNKNOWN, "values": value, "items": Several((OTHER, value))}
        return Several((parts[method],), repeated=True) if not container.items else UNKNOWN
    if method == "items":
        return Several(tuple(Several((LiteralValue(key), each)) for key, each in container.items.items()))
    return Several(tuple(map(LiteralValue, container.items) if method == "keys" else container.items.values()))
