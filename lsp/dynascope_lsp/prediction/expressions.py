"""Expressions: what is known of their values, and what breaks in them."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.calls import Calls
from dynascope_lsp.prediction.modules import ClassInfo, Module
from dynascope_lsp.prediction.torch_names import DISABLING, TENSOR_ATTRIBUTES, usual_name
from dynascope_lsp.prediction.values import (
    DISABLED,
    MASK,
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    ModuleValue,
    Named,
    Several,
    Tensor,
    Value,
    combined,
    is_tensor,
    merged,
    truth,
)


class Expressions(Calls):
    """The half of a frame that evaluates."""

    @abstractmethod
    def _value_of_attribute(self, owner: Instance, module: Module, value: ast.expr) -> Value:
        """Of what `__init__` assigned."""

    @abstractmethod
    def _assign(self, target: ast.expr, value: Value) -> None:
        """Give a target its value."""

    def _in_doubt(self, look: Callable[[], object]) -> bool:
        """Look at something that may not run."""
        certain, self._certain = self._certain, False
        result = look()
        self._certain = certain
        return result is True

    def _test(self, node: ast.expr) -> bool | None:
        """Of a condition: its truth, if it is known now; a tensor here breaks the graph."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self._test(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            return self._all_or_any(node)
        value = self.evaluate(node)
        if is_tensor(value):
            self._report(node, rules.BRANCH)
            return None
        return truth(value)

    def _all_or_any(self, node: ast.BoolOp) -> bool | None:
        decides = isinstance(node.op, ast.Or)
        certain = self._certain
        unknown = False
        try:
            for each in node.values:
                known = self._test(each)
                if known is decides:
                    return decides if not unknown else None
                if known is None:
                    unknown, self._certain = True, False  # what follows may not be looked at
        finally:
            self._certain = certain
        return None if unknown else not decides

    def _assertion(self, node: ast.Assert) -> None:
        """Dynamo puts one about a tensor into the graph, if its message is a literal."""
        if not is_tensor(self._quietly(node.test)):
            self._test(node.test)
        elif node.msg is not None and not isinstance(node.msg, ast.Constant):
            self._report(node, rules.ASSERTION)

    def _quietly(self, node: ast.expr) -> Value:
        result: list[Value] = []
        self._in_doubt(lambda: result.append(self.evaluate(node)))
        return result[0]

    def evaluate(self, node: ast.expr) -> Value:
        """What is known of an expression's value; reports what breaks in it."""
        if not self._program.spend():
            return UNKNOWN
        match node:
            case ast.Constant(value):
                return Constant(value)
            case ast.Name(name):
                return self.names[name] if name in self.names else self._program.global_value(self._module, name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left, _, right):
                values = [self.evaluate(left), self.evaluate(right)]
                return combined(values)
            case ast.UnaryOp(ast.Not(), operand):
                known = self._test(operand)
                return UNKNOWN if known is None else Constant(not known)
            case ast.UnaryOp(_, operand):
                negated = self.evaluate(operand)
                return combined([negated])
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._and_or(node)
            case ast.IfExp(test, body, orelse):
                known = self._test(test)
                if known is not None:
                    return self.evaluate(body if known else orelse)
                return merged(self._quietly(body), self._quietly(orelse))
            case ast.Subscript(value, index):
                return self._subscript(node, self.evaluate(value), index)
            case ast.Tuple(elements) | ast.List(elements):
                return Several(tuple(self.evaluate(each) for each in elements))
            case ast.Lambda():
                return Function(self._module, node, self._function.owner, closure=self.names)
            case ast.NamedExpr(target, value):
                result = self.evaluate(value)
                self._assign(target, result)
                return result
            case (
                ast.ListComp(element, generators)
                | ast.SetComp(element, generators)
                | ast.GeneratorExp(element, generators)
            ):
                return self._comprehension(element, generators)
            case ast.JoinedStr(values):
                for each in values:
                    if isinstance(each, ast.FormattedValue):
                        self.evaluate(each.value)
                return OTHER
            case ast.Starred(value) | ast.Await(value):
                self.evaluate(value)
                return UNKNOWN
            case ast.Dict():
                for part in [*node.keys, *node.values]:
                    if part is not None:
                        self.evaluate(part)
                return OTHER
        return UNKNOWN

    def _and_or(self, node: ast.BoolOp) -> Value:
        """Every operand but the last is tested; the last is the value, if it comes to that."""
        decided = isinstance(node.op, ast.Or)
        known = self._all_or_any(ast.BoolOp(node.op, node.values[:-1]))
        if known is None:
            self._quietly(node.values[-1])
            return UNKNOWN
        return UNKNOWN if known is decided else self.evaluate(node.values[-1])

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> Value:
        """Once, for an element of each; what is tested there is not looked at."""
        saved = dict(self.names)
        self._unresumable += 1
        item: Value = UNKNOWN
        over = self.evaluate(generators[0].iter)
        if isinstance(over, Several) and over.items:
            item = over.items[0]
        elif is_tensor(over):
            item = TENSOR
        elif over == MAYBE_TENSOR:
            item = MAYBE_TENSOR
        self._assign(generators[0].target, item)
        simple = len(generators) == 1 and not generators[0].ifs
        value = self.evaluate(element) if simple else UNKNOWN
        self._unresumable -= 1
        self.names = saved
        known = isinstance(value, Instance | Tensor | Function) or value == MAYBE_TENSOR
        return Several((value,)) if known else UNKNOWN

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(each) for each in (node.left, *node.comparators)]
        if len(values) == 2 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            positive = isinstance(node.ops[0], ast.Is)
            if values[1] == Constant(None):
                if values[0] == Constant(None):
                    return Constant(positive)
                if isinstance(values[0], Tensor | Instance | Function):
                    return Constant(not positive)
            return OTHER
        if len(values) == 2 and isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(map(_is_no_number, values)):
            return Constant(isinstance(node.ops[0], ast.NotEq)) if any(map(is_tensor, values)) else OTHER
        if any(isinstance(each, ast.In | ast.NotIn | ast.Is | ast.IsNot) for each in node.ops):
            return OTHER
        if any(map(is_tensor, values)):
            return MASK
        if len(values) == 2 and all(isinstance(each, Constant) for each in values) and isinstance(node.ops[0], ast.Eq):
            return Constant(values[0] == values[1])
        return combined(values)

    def _subscript(self, node: ast.Subscript, value: Value, index: ast.expr) -> Value:
        chosen = self.evaluate(index) if not isinstance(index, ast.Slice) else UNKNOWN
        if isinstance(value, Several) and isinstance(chosen, Constant) and isinstance(chosen.value, int):
            return value.items[chosen.value] if -len(value.items) <= chosen.value < len(value.items) else UNKNOWN
        if is_tensor(value) or value == MAYBE_TENSOR:
            is_mask = chosen == MASK or (chosen == MAYBE_TENSOR and isinstance(index, ast.Compare))
            if is_mask and isinstance(node.ctx, ast.Load):
                self._report(node, rules.DYNAMIC_SHAPE)
                return TENSOR
            return TENSOR if is_tensor(value) else MAYBE_TENSOR
        return UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.evaluate(node.value)
        match owner:
            case Named(name):
                return Named(usual_name(f"{name}.{node.attr}"))
            case ModuleValue(module):
                return self._program.global_value(module, node.attr)
            case Instance(info):
                return self._attribute_of(owner, info, node.attr)
            case Class(info):
                return self._program.method(info, node.attr) or UNKNOWN
            case Tensor() if node.attr in TENSOR_ATTRIBUTES:
                return owner
            case Tensor():
                return OTHER
        return MAYBE_TENSOR if owner == MAYBE_TENSOR and node.attr in TENSOR_ATTRIBUTES else UNKNOWN

    def _attribute_of(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        found = self._program.method(info, name)
        if self._program.set_outside(name) or (not owner.exact and self._program.overridden(info, name)):
            return UNKNOWN
        if found is not None:
            replaced = self._replaced(info, name)
            if replaced is not None:
                return replaced
            assert not isinstance(found.node, ast.Lambda)
            if any(dotted(each) in ("property", "functools.cached_property") for each in found.node.decorator_list):
                method = Function(found.module, found.node, found.owner, owner)
                return self._program.call(method, [], {}, certain=self._certain, depth=self._depth + 1)
            bound = None if any(dotted(each) == "staticmethod" for each in found.node.decorator_list) else owner
            return self._program.decorated(Function(found.module, found.node, found.owner, bound))
        for each in self._program.bases(info):
            if name in each.attributes:
                value, assigned_in = each.attributes[name]
                if assigned_in is None and (each.node.decorator_list or each.node.bases):
                    return UNKNOWN  # a field of a dataclass or the like: a default
                result = self._value_of_attribute(owner, each.module, value)
                return (
                    result if isinstance(result, Instance | Several | Named | Function | Constant | Tensor) else UNKNOWN
                )
        return UNKNOWN

    def _replaced(self, info: ClassInfo, name: str) -> Value | None:
        """What stands in for a method: `self.step = torch.compiler.disable(self.step)`; None when it is itself."""
        for each in self._program.bases(info):
            if name in each.attributes and each.attributes[name][1] is not None:
                value = each.attributes[name][0]
                called = self._program.name_of(each.module, value.func) if isinstance(value, ast.Call) else None
                if called in DISABLING:
                    return DISABLED
                return None if called == "torch.compile" else UNKNOWN
        return None


def _is_no_number(value: Value) -> bool:
    """Compared with it, a tensor is not compared by its elements."""
    return isinstance(value, Constant) and (value.value is None or isinstance(value.value, str))
