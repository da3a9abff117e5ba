"""One call of one function, statement by statement.

`certain` is whether this place is reached whenever the function is called: only there is anything reported. After a
break where Dynamo cannot resume (in a loop, in `try`), the rest of that function runs uncompiled, and nothing more is
said of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.control_flow import breaks_out, leaves, raises
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
                return TENSOR if self._is_torchs(name) else UNKNOWN
            return OTHER if last in _NOT_TENSORS else UNKNOWN
        return UNKNOWN if has_default or annotation is not None else MAYBE_TENSOR

    def _is_torchs(self, name: str) -> bool:
        """Whether an annotation means `torch.Tensor` or one of its kinds."""
        head, _, rest = name.partition(".")
        value = self._program.global_value(self._module, head)
        if isinstance(value, Named):
            return f"{value.name}.{rest}".startswith("torch.")
        return value == UNKNOWN and name in ("Tensor", "torch.Tensor")

    def run(self) -> Value:
        node = self._function.node
        self._program.modules[self._module.path] = self._module
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body)
        self._block(node.body)
        return merged(*self._returned) if self._returned else Constant(None)

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
                return self._while(node)
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
                self._one_of([case.body for case in cases])
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
        if any(ended) and not all(ended) and not raises(node):
            self._certain = False  # what follows is not always reached
        return all(ended)

    def _while(self, node: ast.While) -> bool:
        self._unresumable += 1
        known = self._test(node.test)
        if known is not False:
            self._forget(node.body)
            if known:
                self._block(node.body)
            else:
                self._one_of([node.body])
        self._unresumable -= 1
        if leaves(node.body):
            self._certain = False
        return known is True and not breaks_out(node.body)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.evaluate(node.iter)
        self._unresumable += 1
        self._forget(node.body)
        items = over.items if isinstance(over, Several) else (TENSOR if is_tensor(over) else UNKNOWN,)
        certain = self._certain
        for item in items[:_ITEMS]:
            self._certain = certain and self._has_items(node.iter, over)
            self._assign(node.target, item)
            self._block(node.body)
        self._unresumable -= 1
        self._certain = certain and not leaves(node.body)
        if breaks_out(node.body):
            self._in_doubt(lambda: self._block(node.orelse))
        else:
            self._block(node.orelse)

    def _has_items(self, node: ast.expr, over: Value) -> bool:
        """Whether a loop over this very likely runs; lists of callbacks and the like are often empty."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id == "range" or any(self._has_items(each, self._quietly(each)) for each in node.args)
        return is_tensor(over) or over == MAYBE_TENSOR or (isinstance(over, Several) and bool(over.items))

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        resumable = True
        for item in node.items:
            before = self._program.breaks
            value = self.evaluate(item.context_expr)
            known = isinstance(value, Named) and value.name.startswith(("torch.", "contextlib."))
            resumable &= known
            if self._certain and not known:
                self._uncompiled |= self._program.breaks > before  # Dynamo does not enter what it has not made
                self._certain = False
            if item.optional_vars is not None:
                self._assign(item.optional_vars, UNKNOWN)
        self._unresumable += not resumable
        ended = self._block(node.body)
        self._unresumable -= not resumable
        return ended

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        self._unresumable += 1
        ended = self._block(node.body)
        if not ended:
            ended = self._block(node.orelse)
        if node.handlers:
            self._one_of([handler.body for handler in node.handlers])
        self._unresumable -= 1
        return self._block(node.finalbody) or (ended and not node.handlers)

    def _one_of(self, bodies: list[list[ast.stmt]]) -> None:
        """Look at blocks of which one runs, or none."""
        before = self.names
        left = [before]
        for body in bodies:
            self.names = dict(before)
            if not self._in_doubt(lambda body=body: self._block(body)):  # type: ignore[misc]
                left.append(self.names)
            elif not isinstance(body[-1], ast.Raise):
                self._certain = False  # what follows is not always reached
        names = {name for each in left for name in each}
        self.names = {name: merged(*(each.get(name) for each in left)) for name in names}

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
