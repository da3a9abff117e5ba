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

from dynascope_lsp.documents.syntax import FunctionNode
from dynascope_lsp.prediction import rules
from dynascope_lsp.prediction.annotations import promised
from dynascope_lsp.prediction.assignments import Assignments, either
from dynascope_lsp.prediction.control_flow import (
    asks_if_any,
    asks_if_empty,
    breaks_out,
    is_generator,
    is_periodic,
    leaves,
    raises,
)
from dynascope_lsp.prediction.expressions import ITEMS
from dynascope_lsp.prediction.modules import ClassInfo, WorkspaceModule
from dynascope_lsp.prediction.program import ProgramNames
from dynascope_lsp.prediction.values import (
    MAYBE_TENSOR,
    UNKNOWN,
    FunctionValue,
    Instance,
    Keyed,
    LiteralValue,
    Named,
    Several,
    Unknown,
    Value,
    combined,
    is_tensor,
    item_of,
    joined,
    merged,
)

_NO_DEPTH = 12
"""The call depth given to single expressions, so that the calls in them are not followed as deep."""
_NOTHING = ast.Lambda(
    args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=ast.Constant(None)
)


class Frame(Assignments):
    """One call of a function, with the values of its names."""

    @classmethod
    def to_evaluate(cls, program: ProgramNames, module: WorkspaceModule) -> Self:
        """Return a frame of an empty function, to evaluate expressions of a module."""
        return cls(program, FunctionValue(module, _NOTHING), False, _NO_DEPTH)

    @classmethod
    def of_module(cls, program: ProgramNames, module: WorkspaceModule) -> Self:
        """Return a frame of a module's top level."""
        return cls(program, FunctionValue(module, _NOTHING), False, 0)

    @classmethod
    def to_make(cls, program: ProgramNames, function: FunctionValue) -> Self:
        """Return a frame of an object's `__init__`, with the arguments that are known of it."""
        frame = cls(program, function, False, _NO_DEPTH)
        instance = function.bound
        assert isinstance(instance, Instance)
        assert not isinstance(function.node, ast.Lambda)
        if instance.given is None:
            frame.bind(None, {})
            frame.names = {name: UNKNOWN if each == MAYBE_TENSOR else each for name, each in frame.names.items()}
        else:
            parameters = [*function.node.args.posonlyargs, *function.node.args.args]
            frame.names |= {**instance.given, **{each.arg: instance for each in parameters[:1]}}
        return frame

    @property
    def _is_of_module(self) -> bool:
        """Whether the frame is that of a module's top level, whose functions `program` knows."""
        return self._function.node is _NOTHING

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
        if spec.vararg is not None:
            left = given[len(positional) :]
            self.names[spec.vararg.arg] = Several(tuple(left)) if arguments is not None and not more else UNKNOWN
        if spec.kwarg is not None:
            parameters = {each.arg for each in [*spec.args, *spec.kwonlyargs]}
            others = {name: each for name, each in keywords.items() if name not in parameters}
            self.names[spec.kwarg.arg] = Keyed(dict(others)) if arguments is not None and not more else UNKNOWN

    def _parameter(self, parameter: ast.arg, has_default: bool) -> Value:
        if parameter.annotation is None:
            return UNKNOWN if has_default else MAYBE_TENSOR
        return promised(self._program, self._module, parameter.annotation)

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
        instance = Instance(info, given={name: value for name, value in frame.names.items() if name != "self"})
        if self._program.sites is not None:
            self._program.attributes_made(instance)  # it may compile
        return instance

    def apply(self, function: Value, argument: Value) -> Value:
        """Return the result of a call of any value with one argument."""
        return self._apply(ast.Call(ast.Constant(None), [ast.Constant(None)], []), function, [argument], {}, False)

    def learn(self, arguments: list[Value], keywords: dict[str, Value], more: bool) -> None:
        """Bind parameters to what a call gives for them, where that is known."""
        frame = type(self)(self._program, self._function, False, _NO_DEPTH)
        frame.bind(arguments, keywords, more=more)
        self.names |= {name: value for name, value in frame.names.items() if not isinstance(value, Unknown)}

    def run_module(self) -> None:
        """Interpret a module's top level; functions see its names as they are at the end."""
        self._block(self._module.tree.body)
        for name, value in self.names.items():
            self._program.assigned(self._module, name, value)

    def run(self) -> Value:
        node = self._function.node
        self._program.modules[self._module.path] = self._module
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body)
        self._unresumable += is_generator(node)
        self._load_state()
        self._block(node.body)
        self._store_state()
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
        match node.target:
            case ast.Name(name):
                before = self.evaluate(ast.Name(name, ast.Load()))
            case ast.Attribute(owner, name) if self._state is not None:
                before = self.evaluate(ast.Attribute(owner, name, ast.Load()))
            case _:
                before = UNKNOWN
        after = self.evaluate(node.value)
        self._assign(node.target, joined(before, after) or combined([before, after]))

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
        if self._is_of_module:
            self._program.global_value(self._module, node.name)  # with its decorators
            return
        function = FunctionValue(self._module, node, self._function.owner, closure=self.names)
        self.names[node.name] = self._program.decorated(function)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if self._is_of_module:
            self._program.global_value(self._module, node.name)
            return
        self._report(node, rules.CLASS_MADE)
        self.names[node.name] = UNKNOWN

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.names[name] = self._program.global_value(self._module, name)

    visit_ImportFrom = visit_Import

    def visit_Delete(self, node: ast.Delete) -> None:
        self.names |= {each.id: UNKNOWN for each in node.targets if isinstance(each, ast.Name)}
        for each in node.targets:
            container = self.evaluate(each.value) if isinstance(each, ast.Subscript) else UNKNOWN
            if isinstance(container, Keyed):
                container.forget()

    def visit_Match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        self._one_of([case.body for case in node.cases])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.names |= dict.fromkeys(node.names, UNKNOWN)

    def visit_If(self, node: ast.If) -> bool:
        breaks = self._program.breaks
        known = self._test(node.test)
        if known is not None:
            return self._block(node.body if known else node.orelse)
        on_a_tensor = self._program.breaks > breaks
        before = dict(self.names)
        both = self._is_either(node.test)
        usual = is_periodic(node.test) or asks_if_any(node.test) or both
        ended = [self._in_doubt(lambda: self._block(node.body), usual)]
        first, self.names = self.names, before
        is_chain = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)  # some run reaches an `elif`
        other = (on_a_tensor and is_chain) or both
        ended.append(self._in_doubt(lambda: self._block(node.orelse), other))
        if ended[0]:
            first = self.names
        elif ended[1]:
            self.names = first
        self.names = either(first, self.names)
        exceptional = raises(node) or (on_a_tensor and not node.orelse) or asks_if_empty(node.test)
        if any(ended) and not all(ended) and not (exceptional or both or is_periodic(node.test)):
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
        if isinstance(over, Keyed):
            over = Several(tuple(map(LiteralValue, over.items))) if not over.has_others else UNKNOWN
        items = over.items if isinstance(over, Several) else (item_of(over),)
        certain = self._certain
        for item in items[:ITEMS]:
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
        self.names = either(*left)
