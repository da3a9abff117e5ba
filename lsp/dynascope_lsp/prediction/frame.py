"""Interpret one call of one function, statement by statement.

`certain` is whether this place is reached whenever the function is called: breaks are reported only there. After a
break where Dynamo cannot resume (in a loop, in `try`), the rest of that function runs uncompiled, and no more breaks
are reported in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Self

from msgspec import structs

from dynascope_lsp.documents.syntax import FunctionNode, dotted
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.control_flow import asks_if_empty, breaks_out, is_generator, is_periodic, leaves, raises
from dynascope_lsp.prediction.expressions import Expressions
from dynascope_lsp.prediction.modules import ClassInfo, WorkspaceModule
from dynascope_lsp.prediction.program import ProgramNames
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    UNKNOWN,
    FunctionValue,
    Instance,
    LiteralValue,
    Named,
    Several,
    Value,
    combined,
    is_tensor,
    item_of,
    merged,
)

_ITEMS = 4
"""The most items of a container for which a loop's body is interpreted."""
_NOT_TENSORS = frozenset(("int", "float", "bool", "str", "list", "dict", "tuple", "set", "None"))
_NO_DEPTH = 12
"""The call depth given to single expressions, so that the calls in them are not followed as deep."""
_NOTHING = ast.Lambda(
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=ast.Constant(None)
)


class Frame(Expressions):
    """One call of a function, with the values of its names."""

    @classmethod
    def to_evaluate(cls, program: ProgramNames, module: WorkspaceModule) -> Self:
        """Return a frame of an empty function, to evaluate expressions of a module."""
        return cls(program, FunctionValue(module, _NOTHING), False, _NO_DEPTH)

    def bind(self, arguments: list[Value] | None, keywords: dict[str, Value], *, more: bool = False) -> None:
        """Bind parameters to the arguments, or to what annotations and defaults say."""
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
            elif arguments is None and ast.unparse(defaults.get(each.arg, _NOTHING)) == "True":
                value = LiteralValue(True)  # most calls leave it so
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
        """Whether an annotation names `torch.Tensor` or another of torch's tensor classes."""
        head, _, rest = name.partition(".")
        value = self._program.global_value(self._module, head)
        if isinstance(value, Named):
            return f"{value.name}.{rest}".startswith("torch.")
        return value == UNKNOWN and name in ("Tensor", "torch.Tensor")

    def _value_of_attribute(
        self, owner: Instance, info: ClassInfo, value: ast.expr, method: FunctionNode | None
    ) -> Value:
        frame = self.to_evaluate(self._program, info.module)
        made = self._program.method(owner.info, "__init__")
        if owner.given is not None and made is not None and made.node is method:
            frame.names |= owner.given
        frame.names["self"] = owner
        return frame.evaluate(value)

    def _given_to(self, info: ClassInfo, arguments: list[Value], keywords: dict[str, Value], more: bool) -> Instance:
        made = self._program.method(info, "__init__")
        if made is None:
            named = dict(zip(info.annotations, arguments, strict=False)) if not more else {}
            return Instance(info, given={**named, **keywords} if info.annotations else None)
        if self._depth > _NO_DEPTH + 4:
            return Instance(info)
        frame = type(self)(self._program, structs.replace(made, bound=Instance(info)), False, self._depth + 1)
        frame.bind(arguments, keywords, more=more)
        return Instance(info, given={name: value for name, value in frame.names.items() if name != "self"})

    def run(self) -> Value:
        node = self._function.node
        self._program.modules[self._module.path] = self._module
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body)
        self._unresumable += is_generator(node)
        self._block(node.body)
        return merged(*self._returned) if self._returned else LiteralValue(None)

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Interpret a block; return whether its end is never reached."""
        for each in body:
            if not self._program.spend():
                return False
            if self.visit(each) is True:  # the code after it is never reached
                return True
        return False

    def visit_Expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        result = self.evaluate(node.value)
        for target in node.targets:
            self._assign(target, result)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self.evaluate(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else None
        before = self.evaluate(ast.Name(name, ast.Load()) if name else ast.Constant(None))
        self._assign(node.target, combined([before, self.evaluate(node.value)]))

    def visit_Return(self, node: ast.Return) -> bool:
        self._returned.append(self.evaluate(node.value) if node.value is not None else LiteralValue(None))
        return True

    def visit_Raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self._quietly(node.exc)
        return True

    def visit_Break(self, node: ast.Break | ast.Continue) -> bool:
        return True

    visit_Continue = visit_Break

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = FunctionValue(self._module, node, self._function.owner, closure=self.names)
        self.names[node.name] = self._program.decorated(function)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._report(node, rules.CLASS_MADE)
        self.names[node.name] = UNKNOWN

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.names[name] = self._program.global_value(self._module, name)

    visit_ImportFrom = visit_Import

    def visit_Delete(self, node: ast.Delete) -> None:
        self.names |= {each.id: UNKNOWN for each in node.targets if isinstance(each, ast.Name)}

    def visit_Match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        self._one_of([case.body for case in node.cases])

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.names |= dict.fromkeys(node.names, UNKNOWN)

    visit_Nonlocal = visit_Global

    def visit_If(self, node: ast.If) -> bool:
        breaks = self._program.breaks
        known = self._test(node.test)
        if known is not None:
            return self._block(node.body if known else node.orelse)
        on_a_tensor = self._program.breaks > breaks
        before = dict(self.names)
        ended = [self._in_doubt(lambda: self._block(node.body), is_periodic(node.test))]
        first, self.names = self.names, before
        is_chain = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)  # some run reaches an `elif`
        ended.append(self._in_doubt(lambda: self._block(node.orelse), on_a_tensor and is_chain))
        if ended[0]:
            first = self.names
        elif ended[1]:
            self.names = first
        self.names = {name: merged(first.get(name), self.names.get(name)) for name in {*first, *self.names}}
        exceptional = raises(node) or (on_a_tensor and not node.orelse) or asks_if_empty(node.test)
        if any(ended) and not all(ended) and not exceptional:
            self._certain = False  # what follows is not always reached
        return all(ended)

    def visit_While(self, node: ast.While) -> bool:
        """Evaluate the first test as if before the loop: Dynamo resumes after a break in it."""
        known = self._test(node.test)
        if known is not False:
            self._unresumable += 1
            self._forget(node.body)
            self._block(node.body)
            self._unresumable -= 1
        if leaves(node.body):
            self._certain = False
        return known is True and not breaks_out(node.body)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.evaluate(node.iter)
        self._unresumable += 1
        self._forget(node.body)
        items = over.items if isinstance(over, Several) else (item_of(over),)
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

    visit_AsyncFor = visit_For

    def _has_items(self, node: ast.expr, over: Value) -> bool:
        """Whether a loop very likely runs: lists of callbacks, for example, are often empty."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id == "range" or any(self._has_items(each, self._quietly(each)) for each in node.args)
        return is_tensor(over) or over == MAYBE_TENSOR or (isinstance(over, Several) and bool(over.items))

    def visit_With(self, node: ast.With | ast.AsyncWith) -> bool:
        resumable = True
        for item in node.items:
            before = self._program.breaks
            value = self.evaluate(item.context_expr)
            known = isinstance(value, Named) and value.name.startswith(("torch.", "contextlib."))
            resumable &= known
            if self._certain and not known:
                self._uncompiled |= self._program.breaks > before  # Dynamo does not enter what it has not traced
                self._certain = False
            if item.optional_vars is not None:
                self._assign(item.optional_vars, UNKNOWN)
        self._unresumable += not resumable
        ended = self._block(node.body)
        self._unresumable -= not resumable
        return ended

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try | ast.TryStar) -> bool:
        self._unresumable += 1
        ended = self._block(node.body)
        if not ended:
            ended = self._block(node.orelse)
        if node.handlers:
            self._one_of([handler.body for handler in node.handlers])
        self._unresumable -= 1
        return self._block(node.finalbody) or (ended and not node.handlers)

    visit_TryStar = visit_Try

    def _one_of(self, bodies: list[list[ast.stmt]]) -> None:
        """Interpret blocks of which at most one runs."""
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
        """Forget the values of names that a loop assigns, except of those that may be tensors."""
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
                for place, each in enumerate(elements):
                    self._assign(each, item_of(value, place, len(elements)))
            case ast.Starred(inner):
                self._assign(inner, UNKNOWN)
            case ast.Attribute() | ast.Subscript():
                self.evaluate(target.value)
