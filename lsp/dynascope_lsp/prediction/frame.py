"""Interpret one call of one function, statement by statement.

`certain` is whether this place is reached whenever the function is called: breaks are reported only there. After a
break where Dynamo cannot resume (in a loop, in `try`), the rest of that function runs uncompiled, and no more breaks
are reported in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from dynascope_lsp.prediction.binding import Binding
from dynascope_lsp.prediction.control_flow import asks_if_empty, breaks_out, is_generator, is_periodic, leaves, raises
from dynascope_lsp.prediction.tables import rules
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    UNKNOWN,
    Constant,
    Function,
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


class Frame(Binding):
    """One call of a function, with the values of its names."""

    def run(self) -> Value:
        node = self._function.node
        self._program.modules[self._module.path] = self._module
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body)
        self._unresumable += is_generator(node)
        self._block(node.body)
        return merged(*self._returned) if self._returned else Constant(None)

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Interpret a block; return whether its end is never reached."""
        for each in body:
            if not self._program.spend():
                return False
            if self._statement(each):
                return True
        return False

    def _statement(self, node: ast.stmt) -> bool:
        """Interpret a statement; return whether the code after it is never reached."""
        kind = _KINDS.get(type(node))
        return kind(self, node) is True if kind is not None else False

    def _expression(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _assignment(self, node: ast.Assign) -> None:
        result = self.evaluate(node.value)
        for target in node.targets:
            self._assign(target, result)

    def _annotated_assignment(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self.evaluate(node.value))

    def _augmented_assignment(self, node: ast.AugAssign) -> None:
        before = self.evaluate(_loaded(node.target))
        self._assign(node.target, combined([before, self.evaluate(node.value)]))

    def _return(self, node: ast.Return) -> bool:
        self._returned.append(self.evaluate(node.value) if node.value is not None else Constant(None))
        return True

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self._quietly(node.exc)
        return True

    def _jump(self, node: ast.Break | ast.Continue) -> bool:
        return True

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = Function(self._module, node, self._function.owner, closure=self.names)
        self.names[node.name] = self._program.decorated(function)

    def _class_definition(self, node: ast.ClassDef) -> None:
        self._report(node, rules.CLASS_MADE)
        self.names[node.name] = UNKNOWN

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.names[name] = self._program.global_value(self._module, name)

    def _deletion(self, node: ast.Delete) -> None:
        self.names |= {each.id: UNKNOWN for each in node.targets if isinstance(each, ast.Name)}

    def _match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        self._one_of([case.body for case in node.cases])

    def _outer_names(self, node: ast.Global | ast.Nonlocal) -> None:
        self.names |= dict.fromkeys(node.names, UNKNOWN)

    def _if(self, node: ast.If) -> bool:
        breaks = self._program.breaks
        known = self._test(node.test)
        if known is not None:
            return self._block(node.body if known else node.orelse)
        on_a_tensor = self._program.breaks > breaks
        before = dict(self.names)
        run = self._as_certain if is_periodic(node.test) else self._in_doubt
        ended = [run(lambda: self._block(node.body))]
        first, self.names = self.names, before
        run = self._as_certain if on_a_tensor and _is_chain(node) else self._in_doubt
        ended.append(run(lambda: self._block(node.orelse)))
        if ended[0]:
            first = self.names
        elif ended[1]:
            self.names = first
        self.names = {name: merged(first.get(name), self.names.get(name)) for name in {*first, *self.names}}
        exceptional = raises(node) or (on_a_tensor and not node.orelse) or asks_if_empty(node.test)
        if any(ended) and not all(ended) and not exceptional:
            self._certain = False  # what follows is not always reached
        return all(ended)

    def _while(self, node: ast.While) -> bool:
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

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
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

    def _has_items(self, node: ast.expr, over: Value) -> bool:
        """Whether a loop very likely runs: lists of callbacks, for example, are often empty."""
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
                self._uncompiled |= self._program.breaks > before  # Dynamo does not enter what it has not traced
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


_KINDS: dict[type, Callable[[Frame, Any], bool | None]] = {
    ast.Expr: Frame._expression,
    ast.Assign: Frame._assignment,
    ast.AnnAssign: Frame._annotated_assignment,
    ast.AugAssign: Frame._augmented_assignment,
    ast.Return: Frame._return,
    ast.Raise: Frame._raise,
    ast.If: Frame._if,
    ast.While: Frame._while,
    ast.For: Frame._for,
    ast.AsyncFor: Frame._for,
    ast.With: Frame._with,
    ast.AsyncWith: Frame._with,
    ast.Try: Frame._try,
    ast.TryStar: Frame._try,
    ast.FunctionDef: Frame._definition,
    ast.AsyncFunctionDef: Frame._definition,
    ast.ClassDef: Frame._class_definition,
    ast.Import: Frame._import,
    ast.ImportFrom: Frame._import,
    ast.Assert: Frame._assertion,
    ast.Delete: Frame._deletion,
    ast.Break: Frame._jump,
    ast.Continue: Frame._jump,
    ast.Match: Frame._match,
    ast.Global: Frame._outer_names,
    ast.Nonlocal: Frame._outer_names,
}


def _is_chain(node: ast.If) -> bool:
    """Whether the other side is another test alone, which some run reaches: `elif`."""
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _loaded(target: ast.expr) -> ast.expr:
    """Return an expression that reads the target of `+=`."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else ast.Constant(None)
