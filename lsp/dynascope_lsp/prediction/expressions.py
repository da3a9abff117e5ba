"""Evaluate expressions to abstract values, and report the graph breaks in them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from msgspec import structs

from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.calls import Calls
from dynascope_lsp.prediction.control_flow import asks_if_any
from dynascope_lsp.prediction.values import (
    EITHER,
    MASK,
    MAYBE_MASK,
    MAYBE_TENSOR,
    OTHER,
    RANDOM,
    TENSOR,
    UNKNOWN,
    FunctionValue,
    Instance,
    Keyed,
    LiteralValue,
    Named,
    Several,
    TensorValue,
    Value,
    combined,
    is_mask,
    is_tensor,
    item_of,
    joined,
    kind_of,
    maybe_tensor,
    merged,
    truth,
)

ITEMS = 4
"""The most items of a container for which a loop's body is interpreted."""


class Expressions(Calls):
    """The part of a frame that evaluates expressions."""

    def _in_doubt(self, evaluate: Callable[[], object], as_certain: bool = False) -> bool:
        """Interpret code that may not run, by a call of `evaluate`: breaks in it are not reported.

        With `as_certain`, for code that some call runs, they are reported as before it.
        """
        certain, self._certain = self._certain, self._certain and as_certain
        self._doubts += 1
        result = evaluate()
        self._doubts -= 1
        self._certain = certain
        return result is True

    def _test(self, node: ast.expr) -> bool | None:
        """Return the truth of a condition, or None if unknown; report a branch on a tensor."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self._test(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            return self._all_or_any(node)
        value = self.evaluate(node)
        if is_tensor(value):
            self._report(node, rules.BRANCH)
            return None
        if value == RANDOM:
            self._report(node, rules.BRANCH_ON_RANDOM)
        return truth(value)

    def _is_either(self, test: ast.expr) -> bool:
        """Whether a test is true in some calls and false in others, as far as is known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
        return isinstance(test, ast.Attribute) and self._quietly(test) == EITHER

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
                    unknown, self._certain = True, False  # the operands after it may not run
        finally:
            self._certain = certain
        return None if unknown else not decides

    def visit_Assert(self, node: ast.Assert) -> None:
        """Evaluate an assertion: Dynamo traces one about a tensor if its message is a literal."""
        if not is_tensor(self._quietly(node.test)):
            self._test(node.test)
        elif node.msg is not None and not isinstance(node.msg, ast.Constant):
            self._report(node, rules.ASSERTION)

    def _quietly(self, node: ast.expr) -> Value:
        result: list[Value] = []
        self._in_doubt(lambda: result.append(self.evaluate(node)))
        return result[0]

    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression, and report the breaks in it."""
        if not self._program.spend():
            return UNKNOWN
        return self.visit(node) or UNKNOWN

    def visit_Constant(self, node: ast.Constant) -> Value:
        return LiteralValue(node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        return self.names[node.id] if node.id in self.names else self._program.global_value(self._module, node.id)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        values = [self.evaluate(node.left), self.evaluate(node.right)]
        if isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor) and any(map(is_mask, values)):
            return MASK if any(map(is_tensor, values)) else MAYBE_MASK
        if isinstance(node.op, ast.Add) and (both := joined(*values)) is not None:
            return both
        return combined(values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            known = self._test(node.operand)
            return UNKNOWN if known is None else LiteralValue(not known)
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Invert):
            return MASK if is_tensor(value) else MAYBE_MASK if maybe_tensor(value) else UNKNOWN
        return combined([value])

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        known = self._test(node.test)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        if self._is_either(node.test):
            return merged(self.evaluate(node.body), self.evaluate(node.orelse))
        if asks_if_any(node.test):
            return merged(self.evaluate(node.body), self._quietly(node.orelse))
        return merged(self._quietly(node.body), self._quietly(node.orelse))

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> Value:
        return Several(tuple(self.evaluate(each) for each in node.elts))

    visit_List = visit_Tuple

    def visit_Slice(self, node: ast.Slice) -> Value:
        bounds = [self.evaluate(each) for each in (node.lower, node.upper, node.step) if each is not None]
        if any(map(is_tensor, bounds)):
            self._report(node, rules.ITEM)
            return UNKNOWN
        return combined(bounds)

    def visit_Lambda(self, node: ast.Lambda) -> Value:
        return FunctionValue(self._module, node, self._function.owner, closure=self.names)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        result = self.evaluate(node.value)
        self._assign(node.target, result)
        return result

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Value:
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.evaluate(each.value)
        return OTHER

    def visit_Starred(self, node: ast.Starred | ast.Await) -> Value:
        self.evaluate(node.value)
        return UNKNOWN

    visit_Await = visit_Starred

    def visit_Dict(self, node: ast.Dict) -> Value:
        items: dict[object, Value] = {}
        known = True
        for key, item in zip(node.keys, node.values, strict=True):
            name, value = self.evaluate(key) if key is not None else None, self.evaluate(item)
            if isinstance(name, LiteralValue):
                items[name.value] = value
            elif key is None and isinstance(value, Keyed):
                items |= value.items
            else:
                known = False
        return Keyed(items) if known else OTHER

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        """Test all operands but the last, which is the value if these do not decide."""
        decided = isinstance(node.op, ast.Or)
        known = self._all_or_any(ast.BoolOp(node.op, node.values[:-1]))
        if known is None:
            self._quietly(node.values[-1])
            return UNKNOWN
        return UNKNOWN if known is decided else self.evaluate(node.values[-1])

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        """Evaluate the element for each of a few known items, or once; not with more than one `for`."""
        values, several = self._elements(node.generators, node.elt)
        if several is not None:
            return Several(tuple(values))
        value = merged(*values)
        known = isinstance(value, Instance | TensorValue | FunctionValue | Several | Named) or maybe_tensor(value)
        return Several((value,), repeated=True) if known else UNKNOWN

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> Value:
        pairs, several = self._elements(node.generators, ast.Tuple([node.key, node.value], ast.Load()))
        items = [each.items for each in pairs if isinstance(each, Several)]
        if several is not None and all(isinstance(key, LiteralValue) for key, _ in items):
            return Keyed({key.value: value for key, value in items if isinstance(key, LiteralValue)})
        return Keyed({}, items[0][1]) if items else OTHER

    def _elements(self, generators: list[ast.comprehension], element: ast.expr) -> tuple[list[Value], int | None]:
        """Evaluate the elements of a comprehension, and how many there are, where that is known."""
        saved = dict(self.names)
        self._unresumable += 1
        over = self.evaluate(generators[0].iter)
        if isinstance(over, Keyed) and over.items and not over.has_others:
            over = Several(tuple(map(LiteralValue, over.items)))
        simple = len(generators) == 1
        known = simple and not generators[0].ifs and isinstance(over, Several) and not over.repeated
        items = over.items if isinstance(over, Several) and known and over.items else (item_of(over),)
        values: list[Value] = []
        for item in items[:ITEMS]:
            self._assign(generators[0].target, item)
            values.append(self.evaluate(element) if simple else UNKNOWN)
        self._unresumable -= 1
        self.names = saved
        return values, len(items) if known and len(items) <= ITEMS else None

    def visit_Compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(each) for each in (node.left, *node.comparators)]
        if len(values) == 2 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            positive = isinstance(node.ops[0], ast.Is)
            if values[1] == LiteralValue(None):
                if values[0] == LiteralValue(None):
                    return LiteralValue(positive)
                if isinstance(values[0], TensorValue | Instance | FunctionValue):
                    return LiteralValue(not positive)
            return OTHER
        if len(values) == 2 and isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(map(_is_no_number, values)):
            return LiteralValue(isinstance(node.ops[0], ast.NotEq)) if any(map(is_tensor, values)) else OTHER
        if isinstance(node.ops[-1], ast.In | ast.NotIn) and is_tensor(values[-1]):
            self._report(node, rules.ITEM)
        if any(isinstance(each, ast.In | ast.NotIn | ast.Is | ast.IsNot) for each in node.ops):
            return OTHER
        if any(map(is_tensor, values)):
            return MASK
        if (
            len(values) == 2
            and all(isinstance(each, LiteralValue) for each in values)
            and isinstance(node.ops[0], ast.Eq)
        ):
            return LiteralValue(values[0] == values[1])
        result = combined(values)
        return MAYBE_MASK if maybe_tensor(result) else result

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        value = self.evaluate(node.value)
        chosen = self.evaluate(node.slice)
        if is_tensor(chosen) and isinstance(value, Several):
            self._report(node, rules.ITEM)
        if is_tensor(value) or maybe_tensor(value):
            if RANDOM in (chosen.items if isinstance(chosen, Several) else (chosen,)):
                self._report(node, rules.BRANCH_ON_RANDOM)
            if any(map(is_mask, chosen.items if isinstance(chosen, Several) else (chosen,))) and isinstance(
                node.ctx, ast.Load
            ):
                self._report(node, rules.DYNAMIC_SHAPE)
                return TENSOR
            return TENSOR if is_tensor(value) else MAYBE_TENSOR
        if isinstance(value, Several) and isinstance(chosen, LiteralValue) and isinstance(chosen.value, int):
            return item_of(value, chosen.value)
        if isinstance(value, Several) and isinstance(node.slice, ast.Slice):
            return _slice(value, node.slice)
        if isinstance(value, Several) and value.items:
            return value.items[0] if len({kind_of(each) for each in value.items}) == 1 else UNKNOWN
        if isinstance(value, Keyed) and isinstance(chosen, LiteralValue):
            return value.get(chosen.value, UNKNOWN)
        return value.default if isinstance(value, Keyed) and not value.items else UNKNOWN


def _is_no_number(value: Value) -> bool:
    """Whether a value is None or a string, which no tensor equals."""
    return isinstance(value, LiteralValue) and (value.value is None or isinstance(value.value, str))


def _slice(value: Several, bounds: ast.Slice) -> Value:
    """Return a part of a list: all of it where the bounds are not literals."""
    parts = (bounds.lower, bounds.upper, bounds.step)
    try:
        lower, upper, step = (None if each is None else ast.literal_eval(each) for each in parts)
        return value if value.repeated else structs.replace(value, items=value.items[lower:upper:step])
    except (ValueError, TypeError):
        return value
