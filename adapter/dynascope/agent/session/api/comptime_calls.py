"""Calls of `dynascope.comptime` in code that Dynamo traces, served on the compiling thread."""

from __future__ import annotations

import builtins
import contextlib
import types
from collections.abc import Iterator
from typing import Any

from dynascope.agent.events.wrapping import is_unobserved
from dynascope.agent.inspection.evaluation.comptime_context import context_of
from dynascope.agent.inspection.evaluation.shadow import Shadow
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.internals.frames.translators import code_of, line_of, output_of
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import SideEffects, is_variable, key_variable
from dynascope.agent.isolation.comptime_context import ComptimeContext
from dynascope.agent.isolation.isolation import reading_only, static_fake_mode
from dynascope.wire.from_agent import ConsoleOutput

_CHANGES = frozenset({"force_static", "graph_break"})
_PRINTS = frozenset({"print_disas", "print_value_stack", "print_locals", "print_bt"})


def answer(translator: Any, method: str, arguments: dict[str, Any]) -> Any:
    """Return the variable that a call returns, or None; `arguments` are variables or defaults.

    Raises TypeError for an argument that must be a constant but is not, and exceptions of the user's function.
    """
    if is_unobserved() and method not in _CHANGES:  # the debugger tries what would be compiled: nothing is printed
        return arguments.get("e") if method == "print_value_stack_and_return" else None
    return _answer(translator, method, arguments)


def _answer(translator: Any, method: str, arguments: dict[str, Any]) -> Any:
    context = context_at(translator)
    if method == "force_static":  # PyTorch's own, as it changes the compile by adding a guard
        _tell(translator, method)
        super(type(variable := context.variable(arguments["val"])), variable).force_static()
        return None
    effects = SideEffects(output_of(translator))
    with reading_only(output_of(translator).shape_env):
        if method in _PRINTS:
            getattr(context, method)(stacklevel=_constant(arguments["stacklevel"], effects))
        elif method == "print_value_stack_and_return":
            context.print_value_stack(stacklevel=_constant(arguments["stacklevel"], effects))
            return arguments["e"]
        elif method in ("print_graph", "print_guards", "graph_break"):
            getattr(context, method)()
        elif method == "print":
            context.print(context.variable(arguments["e"]))
        elif method == "assert_static":
            context.assert_static(context.variable(arguments["val"]))
        elif method == "sleep":
            context.sleep(_constant(arguments["sec"], effects))
        elif method == "__call__":
            _function(arguments["fn"], context, effects)(context)
    if method == "breakpoint":
        _stop(context)
    return None


def context_at(translator: Any) -> ComptimeContext:
    """Return the `ComptimeContext` of a traced frame; it refuses what PyTorch's refuses."""
    names = Names(translator)
    shadow = Shadow(names.effects, static_fake_mode(), True)

    @contextlib.contextmanager
    def act(name: str) -> Iterator[None]:
        _tell(translator, name)
        yield

    return context_of(names, shadow, NotImplementedError, act)


def _constant(value: Any, effects: SideEffects) -> Any:
    """Return the plain value of an argument, or of a parameter's default."""
    if type(value) in (int, float):
        return value
    match contents(value, effects):
        case held.Constant(plain) | held.Unrealised(plain) | held.Real(plain):
            return plain
    raise TypeError("dynascope.comptime: this argument must be a constant at compile time.")


def _function(variable: Any, context: ComptimeContext, effects: SideEffects) -> Any:
    """Return the function to call with the context."""
    match contents(variable, effects):
        case held.Real(function) | held.Unrealised(function) if isinstance(
            function, (types.FunctionType, types.MethodType)
        ):
            return function
        case held.NestedFunction() as nested:
            if nested.code.co_freevars:
                raise TypeError(
                    "comptime function must not have free variables, but these variables were free: "
                    f"{nested.code.co_freevars}"
                )
            return _with_defaults(nested, context, effects)
        case held.Parts(parts={"__self__": owner} as parts, real=real) if "__func__" in parts or "__func__" in real:
            plain: Any = real.get("__func__")
            function = plain if plain is not None else _function(parts["__func__"], context, effects)
            return types.MethodType(function, getattr(contents(owner, effects), "value", None))
    raise RuntimeError("unsupported argument to comptime: give it a function, a lambda or a method")


def _with_defaults(nested: held.NestedFunction, context: ComptimeContext, effects: SideEffects) -> types.FunctionType:
    """Make a function that was defined in the trace; unknown defaults are `ComptimeVar`s."""

    def given(variable: Any) -> Any:
        content = contents(variable, effects)
        return content.value if isinstance(content, (held.Constant, held.Real)) else context.variable(variable)

    function = types.FunctionType(nested.code, nested.globals, nested.name)
    if is_variable(nested.defaults) and isinstance(content := contents(nested.defaults, effects), held.Items):
        function.__defaults__ = tuple(map(given, content.items))
    if is_variable(nested.keyword_defaults) and isinstance(
        content := contents(nested.keyword_defaults, effects), held.Entries
    ):
        named = {_constant(key_variable(key), effects): given(value) for key, value in content.entries.items()}
        function.__kwdefaults__ = named
    return function


def _stop(ctx: ComptimeContext) -> None:
    """Stop the debugger, or without one call Python's `breakpoint()`, with `ctx` in this frame."""
    from dynascope.agent.session.session import current_session

    session = current_session()
    if session is not None:
        session.comptime_breakpoint(ctx)
    else:
        builtins.breakpoint()


def _tell(translator: Any, name: str) -> None:
    """Report in the debug console that the program changes its compile."""
    from dynascope.agent.session.session import current_session

    session = current_session()
    if session is not None and not is_unobserved():
        text = f"comptime.{name} changes what is compiled, as the program asks.\n"
        session.send(
            ConsoleOutput(
                category="console", output=text, path=code_of(translator).co_filename, line=line_of(translator)
            )
        )
