"""Trace the frame of a compile to its end on the side, and undo all of it: nothing is compiled.

Dynamo's own loop of attempts is called a second time while the trace in progress waits, with the arguments of that
trace and a backend that only notes the graph.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx
from torch import _guards

from dynascope.agent.events import torch_names
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.effects import EFFECTS, calls_comptime_function, is_lazy
from dynascope.agent.events.frames import note_line, on_each_instruction
from dynascope.agent.events.wrapping import Events, unobserved
from dynascope.agent.internals.compile import exceptions
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.guards.guards import (
    GuardFact,
    ShapeGuardFact,
    guards_so_far,
    shape_conditions,
    shape_guards_so_far,
)
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, symbols_so_far
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.agent.isolation.state_of_call import function_modes, has_entered_forward_mode, state_of_call
from dynascope.agent.isolation.unseen import unlogged
from dynascope.agent.speculation.first_calls import FirstCalls
from dynascope.agent.speculation.retrace import Frames, call_in_progress, names_counted_as_before
from dynascope.explain.what_if import Traced
from dynascope.facts import break_message
from dynascope.facts.user_stack import UserFrame

_IN_FORWARD_MODE = (
    "This function has entered forward-mode AD (`torch.func.jvp`, `dual_level`), which torch cannot enter a second "
    "time: ask at a stop outside of it."
)
Acts = Mapping[int, Callable[[Translator], None]]
"""The functions to call before instructions, by the position of each instruction in the trace, counted from 1."""


@dataclass
class TrialOutcome(Traced):
    """The result of a trace of the frame to its end, with what remedies are judged by."""

    guards: list[GuardFact] = field(default_factory=list)
    shape_guards: list[ShapeGuardFact] = field(default_factory=list)
    conditions: list[str] | None = None
    """The guards on symbols as Dynamo writes them when it has finished; None if unknown."""
    symbols: list[SymbolFact] = field(default_factory=list)
    acted: set[int] = field(default_factory=set)
    """The keys of `Acts` whose instruction was traced."""


class EffectMet(BaseException):
    """Ends a trial before something that could not be undone; `effect` is a clause for the user."""

    def __init__(self, effect: str) -> None:
        super().__init__(effect)
        self.effect = effect


class _Trial(Events):
    """Counts the instructions that this thread traces, and acts before some of them (`OutputGraph.push_tx`, 2.10)."""

    def __init__(self, acts: Acts, acted: set[int], heeds_effects: bool) -> None:
        super().__init__()
        self._acts, self._acted, self._position = acts, acted, 0
        self.entered = Frames()
        self.logged: tuple[str, tuple[str, int]] | None = None
        """The reason that Dynamo has logged last, of the break that ends the trace, and where the graph ends."""
        here = threading.get_ident()

        def push_tx(original: Any, output: Any, translator: Translator) -> None:
            original(output, translator)
            if threading.get_ident() == here:
                self.entered.enter(translator)
                self._count(translator)

        def note_break(original: Any, frame: Translator, code_options: Any, reason: str, exc: Any) -> None:
            if threading.get_ident() != here:
                original(frame, code_options, reason, exc)
            else:  # not logged: torch would not log the same break again when it comes in earnest
                self.logged = reason, (translators.code_of(frame).co_filename, translators.line_of(frame))

        self.call_instead(torch_names.PUSH_TX, push_tx)
        self.call_instead(torch_names.LOG_GRAPH_BREAK, note_break)
        if heeds_effects:
            self._heed(torch_names.CALL_COMPTIME, _effect_of_comptime)
            self._heed(torch_names.INITIALIZE_LAZY_MODULE, _effect_of_lazy_module)
            for name, effect_of in EFFECTS.items():
                self._heed(name, effect_of)

    def _heed(self, name: TorchName, effect_of: Callable[..., str | None]) -> None:
        def wrapper(original: Any, *args: Any, **kwargs: Any) -> Any:
            effect = effect_of(*args, **kwargs)
            if effect is not None:
                raise EffectMet(effect)
            return original(*args, **kwargs)

        self.call_instead(name, wrapper)

    def _count(self, translator: Translator) -> None:
        if translators.is_outermost(translator):
            self._position = 0

        def on_instruction(line: int) -> None:
            note_line(translator, line)
            self._position += 1
            act = self._acts.get(self._position)
            if act is not None:
                self._acted.add(self._position)
                act(translator)

        on_each_instruction(translator, on_instruction)


def _effect_of_comptime(*args: Any, **kwargs: Any) -> str | None:
    calls = calls_comptime_function(*args, **kwargs)
    return "the functions given to `comptime` would run, and print" if calls else None


def _effect_of_lazy_module(translator: Any, module: Any, *args: Any, **kwargs: Any) -> str | None:
    return f"the lazy module {type(module).__name__} would be initialized" if is_lazy(module) else None


class TrialRefused(Exception):
    """Raised where the frame cannot be traced a second time; the text is a sentence for the user."""


def trial(acts: Acts, heeds_effects: bool) -> TrialOutcome:
    """Trace the frame that is being traced to its end.

    `heeds_effects`: raise EffectMet before what cannot be undone. Calls `convert_frame.compile_frame` (2.0).
    Raises TrialRefused.
    """
    if has_entered_forward_mode():
        raise TrialRefused(_IN_FORWARD_MODE)
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    args, kwargs, modes = call_in_progress()
    code, globals_, locals_, builtins, closure, backend, _, one_graph = args[:8]
    state = kwargs.get("distributed_state")
    if state is not None and state.all_states is None:  # the other ranks would wait for this one
        kwargs = kwargs | {"distributed_state": None}
    outcome = TrialOutcome()

    def note_graph(graph_module: Any, _example_inputs: Any) -> Any:
        outcome.graphs.append(_operations(graph_module))
        return graph_module.forward

    # in a transform of functorch Dynamo compiles for the backend `eager` alone, which it looks for here
    note_graph.compiler_fn = inspect.getattr_static(backend, "compiler_fn", backend)  # type: ignore[attr-defined]
    with _undone(globals_), function_modes(modes):
        watching = _Trial(acts, outcome.acted, heeds_effects)
        try:
            result = convert_frame.compile_frame(
                code, globals_, locals_, builtins, closure, note_graph, one_graph, set(), **(kwargs | {"package": None})
            ).tracer_output
            _read(outcome, result.output_graph, watching.logged)
            _clean_up(result)
        except Exception as error:
            failed = getattr(error, "_torch_dynamo_tracer_output", None)
            is_error = one_graph or getattr(failed, "error_on_graph_break", False)
            outcome.is_given_up = not is_error and exceptions.is_soft(error)
            message = break_message.parse_all(exceptions.message_of(error))[0]
            outcome.error = message.type if outcome.is_given_up else _first_line(error)
            if failed is not None:
                _clean_up(failed)
        finally:
            watching.remove()
            watching.entered.let_go()
    return outcome


def _read(outcome: TrialOutcome, output: Any, logged: tuple[str, tuple[str, int]] | None) -> None:
    """Read the graph of a finished trace, and its end (`compile_subgraph_reason`, 2.0)."""
    reason = output.compile_subgraph_reason
    if reason is not None and reason.graph_break:
        stack = [UserFrame(each.filename, each.lineno or 0, each.name) for each in reason.user_stack]
        here = stack[-1] if stack else UserFrame("", 0, "")
        text, outcome.ends_at = logged or (str(reason.reason), (here.path, here.line))
        effect, _, message = break_message.split_reason(text)
        outcome.graph_break = break_message.graph_break(message, effect, [], here)
    on_sources, on_state = guards_so_far(output)
    outcome.guards = [*on_sources, *on_state]
    outcome.shape_guards = list(shape_guards_so_far(output))
    outcome.symbols = symbols_so_far(output)
    outcome.conditions = shape_conditions(output)
    outcome.symbols_told = list(map(str, outcome.symbols))
    outcome.guards_told = list(map(str, [*outcome.guards, *outcome.shape_guards]))


def _operations(graph_module: Any) -> list[str]:
    """Return the lines of `torch.fx.GraphModule.code` (1.8) that calculate something.

    Those of an operator's bodies follow, each with the body's name.
    """
    found: list[str] = []
    for name, body in graph_module.named_modules():
        if isinstance(body, torch.fx.GraphModule):
            names = {node.name for node in body.graph.nodes if node.op.startswith("call_")}
            lines = (line.partition(";  ")[0].strip() for line in body.code.splitlines())
            own = [line for line in lines if line.partition(" = ")[0].partition(":")[0] in names]
            found += [f"{name}: {line}" for line in own] if name else own
    return found


def _clean_up(result: Any) -> None:
    """Remove the globals that a trace has installed (`OutputGraph.cleanups`, 2.0)."""
    output = getattr(result, "output_graph", None)
    while output is not None and output.cleanups:
        output.cleanups.pop()()
    result._cleanup_output_graph()


@contextlib.contextmanager
def _undone(global_names: dict[str, Any]) -> Iterator[None]:
    """Trace as from the state before the trace in progress, and leave everything as it is now.

    Restored are `pgo.get_code_state` (2.6), `output_graph.graph_break_reasons` (2.0) and
    `CompileContext.attempt` (2.0).
    """
    pgo: Any = sys.modules["torch._dynamo.pgo"]
    reasons: list[Any] = sys.modules["torch._dynamo.output_graph"].graph_break_reasons
    context: Any = _guards.CompileContext.try_get()
    learnt, attempt, known = pgo.get_code_state(), getattr(context, "attempt", 0), set(global_names)
    learnt_before, number_of_reasons, first_calls = copy.deepcopy(learnt), len(reasons), FirstCalls()
    try:
        with unobserved(), unlogged(), names_counted_as_before(), state_of_call(), undisturbed():
            yield
    finally:
        learnt.clear()
        learnt.update(learnt_before)
        del reasons[number_of_reasons:]
        first_calls.forget_all()
        for name in set(global_names) - known:
            del global_names[name]
        if context is not None:
            context.attempt = attempt


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "msg", None) or error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
