"""Evaluate expressions and statements at a symbolic frame, on shadows."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import sys
import textwrap
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TextIO

import torch

from dynascope.agent.inspection.evaluation.comptime_context import context_of
from dynascope.agent.inspection.evaluation.shadow import Shadow
from dynascope.agent.inspection.evaluation.shadow_builtins import ShadowGlobals, builtins_at, told
from dynascope.agent.inspection.row_paths import row_at
from dynascope.agent.inspection.values import EvaluationError, NotSettable, concrete
from dynascope.agent.inspection.values.concrete import type_text
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Row, ViewOptions
from dynascope.agent.inspection.values.symbolic_text import contents
from dynascope.agent.internals.frames.translators import globals_of, output_of
from dynascope.agent.isolation.comptime_context import console_text
from dynascope.agent.isolation.containment import ActRefused
from dynascope.agent.isolation.isolation import CalculationRefused, guards_suppressed, isolated, static_fake_mode
from dynascope.agent.program.interruption import Cancelled
from dynascope.explain.details import effect

NOT_SET = (
    "cannot be set at a compile-time stop: Dynamo may trace this function again from its start, and the compiled code "
    "computes the program's own value in any case. In the debug console an assignment makes a name of your own, which "
    "your expressions see and the program does not; `what if` tries what else could be compiled."
)
"""Text that follows the name of a variable that cannot be set."""

ALWAYS_CTX = "__ctx__"
"""The name of the frame's ComptimeContext, also where the program has a `ctx` of its own."""

_HIDES = f". `ctx` is a name of the program's own here: the debugger's ComptimeContext is `{ALWAYS_CTX}`."
_DATA_DEPENDENT = frozenset(
    {"DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode"}
)

_ACTS_OF_CTX = frozenset({"force_static", "graph_break", "sleep"})
_HARMLESS_MODULES = frozenset({"torch", "math", "operator"})
_HARMLESS_BUILTINS = (
    "abs all any bool bytes complex dict dir divmod enumerate float format frozenset getattr hasattr hash hex id int "
    "isinstance issubclass len list max min oct ord range repr reversed round set slice sorted str sum tuple type "
    "vars zip"
)


class _Outcome(NamedTuple):
    value: Any
    printed: str
    used_hints: bool
    """Whether symbolic sizes were replaced by their numbers in this call."""


class Console:
    """Evaluate at one symbolic frame; assigned names are kept until the program resumes."""

    def __init__(self, names: Names, given: Mapping[str, Callable[[Shadow], Any]] | None = None) -> None:
        """Evaluate with the frame's `names` and those of `given`, built at each evaluation."""
        self._names = names
        self._given = given or {}
        self._kept: dict[str, Any] = {}
        self._changed = False
        self._evaluations: list[tuple[Shadow, ShadowGlobals]] = []
        """The shadows and globals of each evaluation, from which its result may read more later."""

    def close(self) -> None:
        """Drop all names, and what the evaluations have read: the program resumes."""
        for shadow, world in self._evaluations:
            shadow.forget()
            world.clear()
        self._evaluations.clear()
        self._kept.clear()

    @functools.cached_property
    def _mode(self) -> Any:
        return static_fake_mode()

    def row(self, expression: str, context: str, options: ViewOptions) -> Row:
        """Return the row for `expression`; `context` is DAP's. Raises EvaluationError."""
        tree = _parsed(expression, statements=context == "repl")
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            parsed = tree.body[0].value
            if root_name(parsed) not in self._kept:
                with torch._C.DisableTorchFunction():
                    row = row_at(parsed, self._names, options)
                if row is not None:
                    return row
            if context == "hover":
                check_hover(parsed, self._names)
        outcome = self._run(tree, runs_user_code=context != "hover", captures=context in ("repl", "clipboard"))
        value, printed, used_hints = outcome
        with torch._C.DisableTorchFunction():
            if value is None and (printed or not isinstance(tree.body[-1], ast.Expr)):
                return Row("", printed.strip("\n"))
            own_text = console_text(value)
            row = (
                Row("", own_text, type_text(value)) if own_text is not None else concrete.row(options, "", value, None)
            )
        row.value = f"{printed}{row.value}"
        if used_hints and row.type:
            row.type = f"{row.type} (sizes are hints)"
        row.is_settable = isinstance(tree.body[-1], ast.Expr) and root_name(tree.body[-1].value) in self._kept
        return row

    def assign(self, target: str, value: str, options: ViewOptions) -> Row:
        """Set a console name, or a part of it; return its row. Raises EvaluationError for others."""
        (statement,) = _parsed(target, statements=False).body
        _parsed(value, statements=False)
        assert isinstance(statement, ast.Expr)
        if root_name(statement.value) not in self._kept:
            raise NotSettable(f"{target.strip()} {NOT_SET}")
        self._run(
            _parsed(f"{target.strip()} = ({value.strip()})", statements=True), runs_user_code=True, captures=False
        )
        return self.row(target, "watch", options)

    @property
    def has_names(self) -> bool:
        """Whether any name has been assigned in this console."""
        return bool(self._kept)

    def rows(self, options: ViewOptions) -> list[Row]:
        """Return the rows of the assigned names."""
        rows = [concrete.row(options, name, value, name) for name, value in self._kept.items()]
        for row in rows:
            row.is_settable = True
        return rows

    def has_changed(self) -> bool:
        """Whether names were set or `ctx` was used since the last call, so that views may differ."""
        changed, self._changed = self._changed, False
        return changed

    def value(self, expression: str) -> Any:
        """Return the value of an expression in a condition or log message. Raises EvaluationError."""
        return self._run(_parsed(expression, statements=False), runs_user_code=True, captures=False).value

    def _run(self, tree: ast.Module, runs_user_code: bool, captures: bool) -> _Outcome:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        hidden = "ctx" in used and self.is_taken("ctx")
        contexts = used & {ALWAYS_CTX} if hidden else used & {ALWAYS_CTX, "ctx"}
        uses_context = bool(contexts)
        shadow = Shadow(self._names.effects, self._mode, runs_user_code)
        builtins = builtins_at(shadow, self._names, used)
        world = ShadowGlobals(shadow, globals_of(self._names.translator), self._names, builtins)
        self._evaluations.append((shadow, world))
        world.update(torch=torch, **{name: make(shadow) for name, make in self._given.items()}, **self._kept)
        if uses_context:
            context = context_of(self._names, shadow, EvaluationError, self._act, is_console=True)
            world.update(dict.fromkeys(contexts, context))
        before = dict(world)
        where = guards_suppressed(output_of(self._names.translator).shape_env) if uses_context else isolated(self._mode)
        output = _Capture() if captures or uses_context else None
        try:
            with where:
                if output is None:
                    value = _execute(tree, world)
                else:
                    with output:
                        value = _execute(tree, world)
        except (EvaluationError, Cancelled):
            raise
        except BaseException as error:  # an exception of an expression, SystemExit too, must not reach the program
            raise EvaluationError(_sentence(error) + (_HIDES if hidden else "")) from error
        set_now = {k: v for k, v in world.items() if k not in before or before[k] is not v}
        self._kept.update(set_now)
        self._changed = self._changed or bool(set_now) or uses_context
        return _Outcome(value, output.text() if output is not None else "", shadow.used_hints)

    def is_taken(self, name: str) -> bool:
        """Whether the program or this console already uses that name."""
        return name in self._kept or self._names.has(name)

    @contextlib.contextmanager
    def _act(self, name: str) -> Iterator[None]:
        """Print a notice after a change of the compile by `ctx`."""
        yield
        notice = f"ctx.{name} changes what is compiled"
        if name == "graph_break":
            notice += f": when the program resumes, {effect('rest uncompiled', graph='the graph')}"
        print(f"{notice}. This compile now differs from that of a plain run.")


def _parsed(expression: str, statements: bool) -> ast.Module:
    source = textwrap.dedent(expression).strip()
    try:
        tree = ast.parse(source, "<debug console>")
    except (SyntaxError, ValueError) as error:
        raise EvaluationError(f"SyntaxError: {getattr(error, 'msg', error)}") from error
    if not tree.body:
        raise EvaluationError("There is nothing to evaluate.")
    if not statements and not (len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)):
        raise EvaluationError("Only an expression can be evaluated here; statements belong in the debug console.")
    return tree


def _execute(tree: ast.Module, world: dict[str, Any]) -> Any:
    """Run all statements; return the value of the last one if it is an expression."""
    *first, last = told(tree).body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<debug console>", "exec"), world)
        return None
    if first:
        exec(compile(ast.Module(first, []), "<debug console>", "exec"), world)
    return eval(compile(ast.Expression(last.value), "<debug console>", "eval"), world)


def _sentence(error: BaseException) -> str:
    if isinstance(error, CalculationRefused):
        return "ctx returns the trace's own tensors, which can only be read: calculate with the names themselves."
    if isinstance(error, ActRefused):
        return str(error)
    if type(error).__name__ in _DATA_DEPENDENT:
        return "This depends on tensor data, which is not known at compile time."
    first_line = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__


class _Capture:
    """Capture this thread's standard output; other threads keep theirs."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._buffer = io.StringIO()
        self._real: TextIO = sys.stdout

    def __enter__(self) -> None:
        self._real, sys.stdout = sys.stdout, self  # type: ignore[assignment]

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._real

    def write(self, text: str) -> int:
        target = self._buffer if threading.get_ident() == self._thread else self._real
        return target.write(text)

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self._real.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def text(self) -> str:
        return self._buffer.getvalue()


def check_hover(expression: ast.expr, names: Names) -> None:
    """Raise EvaluationError for calls except of torch, pure builtins and methods of shadows."""
    for node in ast.walk(expression):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            raise EvaluationError("Hovering only reads: evaluate this in the debug console.")
        if not isinstance(node, ast.Call):
            continue
        root = root_name(node.func)
        harmless = root is None or root in _HARMLESS_BUILTINS.split() if isinstance(node.func, ast.Name) else True
        if root is not None and not isinstance(node.func, ast.Name):
            harmless = _is_harmless_owner(root, names)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ACTS_OF_CTX:
            harmless = False
        if not harmless:
            raise EvaluationError(
                f"Hovering does not call {ast.unparse(node.func)}(): evaluate it in the debug console."
            )


def _is_harmless_owner(name: str, names: Names) -> bool:
    try:
        named = names.find(name)
    except KeyError:
        return True
    content = None if named.variable is None else contents(names.options(), named.variable)
    real = named.real if content is None else getattr(content, "value", None)
    return type(real) is not types.ModuleType or real.__name__.partition(".")[0] in _HARMLESS_MODULES


def root_name(expression: ast.expr) -> str | None:
    """Return the name at the start of attributes, subscripts and calls; None if there is none."""
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else None
