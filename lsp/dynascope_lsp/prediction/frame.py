"""One call of one function, statement by statement.

`certain` is whether this place is reached whenever the function is called: only there is anything reported. After a
break where Dynamo cannot resume (in a loop, in `try`), the rest of that function runs uncompiled, and nothing more is
said of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.expressions import Expressions
from dynascope_lsp.prediction.modules import Module
from dynascope_lsp.prediction.program import Program
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    UNKNOWN,
    Constant,
    Function,
    Instance,
    Named,
    Several,
    Value,
    combined,
    is_tensor,
    merged,
)
from dynascope_lsp.syntax import dotted

_NOT_TENSORS = frozenset(("int", "float", "bool", "str", "list", "dict", "tuple", "set", "None"))
_ITEMS = 4
"""Of a container that a loop goes over, so many are looked at."""


class Frame(Expressions):
    """Knows what names hold while it runs."""

    @classmethod
    def to_evaluate(cls, program: Program, module: Module) -> Frame:
        """One that runs nothing: to look at expressions of a module."""
        return cls(program, Function(module, _NOTHING), False, _NO_DEPTH)

    def bind(self, arguments: list[Value] | None, keywords: dict[str, Value], *, more: bool = False) -> None:
        """Give parameters their values: the arguments', or what annotations and defaults say."""
        spec = self._function.node.args
        positional = [*spec.posonlyargs, *spec.args]
        defaults: dict[str, ast.expr] = dict(
            zip((each.arg for each in positional[::-1]), spec.defaults[::-1], strict=False)
        )
        defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        given = list(arguments or [])
        if self._function.bound is not None:
            given.insert(0, self._function.bound)
        for place, each in enumerate([*positional, *spec.kwonlyargs]):
            if place < len(given) and place < len(positional):
                value = given[place]
            elif each.arg in keywords:
                value = keywords[each.arg]
            elif arguments is not None and not more and each.arg in defaults:
                value = self.evaluate(defaults[each.arg])
            else:
                value = self._parameter(each, each.arg in defaults)
            self.names[each.arg] = value
        for rest in (spec.vararg, spec.kwarg):
            if rest is not None:
                self.names[rest.arg] = UNKNOWN

    def _parameter(self, parameter: ast.arg, has_default: bool) -> Value:
        annotation = parameter.annotation
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            name: str | None = annotation.value
        else:
            name = dotted(annotation) if annotation is not None else None
        if name is not None:
            last = name.rpartition(".")[2]
            if last.endswith("Tensor"):
                return TENSOR
            return OTHER if last in _NOT_TENSORS else UNKNOWN
        return UNKNOWN if has_default or annotation is not None else MAYBE_TENSOR

    def run(self) -> Value:
        node = self._function.node
        self._program.modules[self._module.path] = self._module
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body)
        self._block(node.body)
        if not self._returned:
            return Constant(None)
        result: Value | None = self._returned[0]
        for each in self._returned[1:]:
            result = merged(result, each)
        return result if result is not None else UNKNOWN

    def _value_of_attribute(self, owner: Instance, module: Module, value: ast.expr) -> Value:
        frame = Frame.to_evaluate(self._program, module)
        frame.names["self"] = owner
        return frame.evaluate(value)

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Whether the end of it is never reached."""
        for each in body:
            if not self._program.spend():
                return False
            if self._statement(each):
                return True
        return False

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Expr(value) | ast.Await(value):
                self.evaluate(value)
            case ast.Assign(targets, value):
                result = self.evaluate(value)
                for target in targets:
                    self._assign(target, result)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._assign(target, self.evaluate(value))
            case ast.AugAssign(target, _, value):
                before = self.evaluate(_loaded(target))
                after = self.evaluate(value)
                self._assign(target, combined([before, after]))
            case ast.Return(value):
                self._returned.append(self.evaluate(value) if value is not None else Constant(None))
                return True
            case ast.Raise(value):
                if value is not None:
                    self._in_doubt(lambda: self.evaluate(value))
                return True
            case ast.If():
                return self._if(node)
            case ast.While():
                self._while(node)
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                function = Function(self._module, node, self._function.owner, closure=self.names)
                self.names[node.name] = self._program.decorated(function)
            case ast.ClassDef():
                self._report(node, rules.CLASS_MADE)
                self.names[node.name] = UNKNOWN
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self.names[name] = self._program.global_value(self._module, name)
            case ast.Assert():
                self._assertion(node)
            case ast.Delete(targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.names[target.id] = UNKNOWN
            case ast.Break() | ast.Continue():
                return True
            case ast.Match(subject, cases):
                self.evaluate(subject)
                for case in cases:
                    self._in_doubt(lambda case=case: self._block(case.body))  # type: ignore[misc]
            case ast.Global(names) | ast.Nonlocal(names):
                for name in names:
                    self.names[name] = UNKNOWN
        return False

    def _if(self, node: ast.If) -> bool:
        known = self._test(node.test)
        if known is not None:
            return self._block(node.body if known else node.orelse)
        before = dict(self.names)
        ended = [self._in_doubt(lambda: self._block(node.body))]
        first, self.names = self.names, before
        ended.append(self._in_doubt(lambda: self._block(node.orelse)))
        if ended[0]:
            first = self.names
        elif ended[1]:
            self.names = first
        self.names = {name: merged(first.get(name), self.names.get(name)) for name in {*first, *self.names}}
        if any(ended) and not all(ended) and not _raises(node):
            self._certain = False  # what follows is not always reached
        return all(ended)

    def _while(self, node: ast.While) -> None:
        self._unresumable += 1
        known = self._test(node.test)
        if known is not False:
            self._forget(node.body)
            if known:
                self._block(node.body)
            else:
                self._in_doubt(lambda: self._block(node.body))
        self._unresumable -= 1

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.evaluate(node.iter)
        self._unresumable += 1
        self._forget(node.body)
        items = over.items if isinstance(over, Several) else (TENSOR if is_tensor(over) else UNKNOWN,)
        certain = self._certain
        for item in items[:_ITEMS]:
            self._assign(node.target, item)
            self._block(node.body)
            self._certain = certain
        self._unresumable -= 1
        self._block(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        resumable = True
        for item in node.items:
            value = self.evaluate(item.context_expr)
            resumable &= isinstance(value, Named) and value.name.startswith("torch.")
            if item.optional_vars is not None:
                self._assign(item.optional_vars, UNKNOWN)
        self._unresumable += not resumable
        ended = self._block(node.body)
        self._unresumable -= not resumable
        return ended

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        self._unresumable += 1
        ended = self._block(node.body)
        for handler in node.handlers:
            self._in_doubt(lambda handler=handler: self._block(handler.body))  # type: ignore[misc]
        self._unresumable -= 1
        if not ended:
            ended = self._block(node.orelse)
        return self._block(node.finalbody) or (ended and not node.handlers)

    def _forget(self, body: list[ast.stmt]) -> None:
        """Before a loop: what it assigns is whatever the last turn left, unless it is a tensor anyway."""
        for each in body:
            for node in ast.walk(each):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    before = self.names.get(node.id, UNKNOWN)
                    self.names[node.id] = before if is_tensor(before) or before == MAYBE_TENSOR else UNKNOWN

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(name):
                self.names[name] = value
            case ast.Tuple(elements) | ast.List(elements):
                items = value.items if isinstance(value, Several) else ()
                for place, each in enumerate(elements):
                    self._assign(each, items[place] if len(items) == len(elements) else UNKNOWN)
            case ast.Starred(inner):
                self._assign(inner, UNKNOWN)
            case ast.Attribute() | ast.Subscript():
                self.evaluate(target.value)


_NO_DEPTH = 12
"""So that what an expression calls is followed, but not for ever."""
_NOTHING = ast.Lambda(
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=ast.Constant(None)
)


def _loaded(target: ast.expr) -> ast.expr:
    """The target of `+=`, as it is read."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else ast.Constant(None)


def _raises(node: ast.If) -> bool:
    """Whether a branch ends in an exception: then what follows is what usually runs."""
    return any(branch and isinstance(branch[-1], ast.Raise) for branch in (node.body, node.orelse))
