"""Answer `what if` at a stop: try a change, keep it, undo it. Used on the stopped thread."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import get_args

from dynascope.agent.inspection.row_paths import row_at
from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.names import Names
from dynascope.agent.inspection.values.rows import Children, Row, fixed
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import frame_name
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic
from dynascope.agent.internals.variables.held import Cell, Constant, Contents, Number, Tensor, Unrealised, Unset
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import source_of
from dynascope.agent.speculation import changes
from dynascope.agent.speculation.trial import EffectMet, TrialOutcome, TrialRefused, trial
from dynascope.agent.suspension.stops import Stop
from dynascope.agent.tracing.compile_state import CompileState
from dynascope.agent.tracing.time_travel.lines_begun import own_instructions
from dynascope.agent.tracing.what_if import asked
from dynascope.agent.tracing.what_if.change import Change, make, put_in_force
from dynascope.explain.problem import where
from dynascope.explain.what_if import TraceDifference, harm

_EFFECTS = (
    "To try this, Dynamo traces this frame to its end, and not all can be undone: {}. Ask again to try it all the same."
)
_EFFECTS_OF_KEEPING = (
    "For this, Dynamo traces this frame again from its start, and not all can be undone: {}. Ask again to do it "
    "all the same."
)
_NOT_KEPT = "Nothing is changed. To compile with this change: what if keep"
_AS_KEPT = "The program compiles with what is kept. To make this change, too: what if keep"
_KEPT = "When the program goes on, this compile is traced again from its start with the change: {}."


class WhatIf:
    """The changes that can be tried and kept at one stop."""

    def __init__(
        self, state: CompileState, stack: Sequence[Translator], stop: Stop, tell: Callable[[str], None]
    ) -> None:
        """Take the stack innermost first; `tell` writes to the debug console."""
        self._state = state
        self._stack = stack
        self._stop = stop
        self._tell = tell
        self._tried: Change | None = None
        self._harm: str | None = None
        """The warning to give before the change is kept."""

    def answer(self, question: str, frame: int) -> Row:
        """Return the answer as a row; `frame` is the selected frame's number, 0 the innermost.

        Raises EvaluationError.
        """
        match question.split():
            case []:
                kept = [f"kept: {change.named}" for change in self._state.kept]
                return Row("", "\n".join([*kept, asked.HELP]))
            case ["keep"]:
                return Row("", self._keep())
            case ["undo"]:
                return Row("", self._undo())
            case ["hint"]:
                question = self._advice()
        change = self._change(question, frame)
        plain, changed = self._outcome(self._state.kept), self._outcome([*self._state.kept, change], change)
        is_worse = changed.error is not None and plain.error is None
        self._harm = harm(changed) if is_worse else None
        difference = TraceDifference(plain, changed)
        self._tried = change
        end = _AS_KEPT if self._state.kept else _NOT_KEPT
        rows = fixed([Row(*each) for each in difference.rows()])
        return Row("", f"{difference.text()}\n{end}", children=Children(named=rows))

    def try_value(self, target: str, value: str, frame: int) -> Row | None:
        """Try what a client sets, tell the difference, and return the row; None for no number.

        `dynamic` and `static` are values, too. Raises EvaluationError.
        """
        names = Names(self._stack[frame])
        decision = value.strip() in get_args(asked.Kind)
        if not decision and not names.is_number(target):
            return None
        question = f"{target} {value}" if decision else f"{target} = {value}"
        self._tell(f"What if {question}?\n{self.answer(question, frame).value}")
        return row_at(ast.parse(target, mode="eval").body, names, names.options())

    def outcome(self, text: str, in_force: Callable[[], AbstractContextManager[None]]) -> TrialOutcome:
        """Trace the frame with what is kept and something else in force. Raises EvaluationError."""
        return self._outcome([*self._state.kept, Change(text, 0, 0, in_force)])

    def _keep(self) -> str:
        if self._tried is None:
            raise EvaluationError("Nothing has been tried at this stop: try a change first, `what if` lists them.")
        self._check_effects()
        harm, self._harm = self._harm, None
        if harm is not None:
            raise EvaluationError(harm)
        self._state.kept.append(self._tried)
        return _KEPT.format(self._tried.named)

    def _undo(self) -> str:
        if not self._state.kept:
            raise EvaluationError("No change is kept in this compile.")
        self._check_effects()
        return f"No longer kept: {self._state.kept.pop().named}."

    def _check_effects(self) -> None:
        state = self._state
        if state.effects and not state.effects_accepted:
            state.effects_accepted = True
            raise EvaluationError(_EFFECTS_OF_KEEPING.format("; ".join(state.effects)))

    def _outcome(self, all_changes: Sequence[Change], tried: Change | None = None) -> TrialOutcome:
        state = self._state
        positions = {change.position for change in all_changes if change.act is not None}
        acts = {position: functools.partial(make, all_changes, position) for position in positions}
        state.in_force.close()
        try:
            with put_in_force(all_changes):
                outcome = trial(acts, heeds_effects=not state.effects_accepted)
        except EffectMet as met:
            state.effects_accepted = True
            raise EvaluationError(_EFFECTS.format(met.effect)) from met
        except TrialRefused as refused:
            raise EvaluationError(str(refused)) from refused
        finally:
            state.in_force = put_in_force(state.applied)
        if tried is not None and tried.act is not None and tried.position not in outcome.acted:
            raise EvaluationError("With what is kept, Dynamo does not come to this line any more: nothing to try.")
        return outcome

    def _advice(self) -> str:
        details = None if self._stop.exception is None else self._stop.exception.info.details
        for name, value in asked.advised("" if details is None else details.message or ""):
            if changes.is_setting(name) and changes.setting(name) != value:
                return f"config.{name} = {value}"
        raise EvaluationError("No hint at this stop names a setting of torch._dynamo.config to try.")

    # ---- from a question to a change

    def _change(self, question: str, frame: int) -> Change:
        depth = len(self._stack) - 1 - frame
        make_change = functools.partial(
            Change, question, self._state.clock.traced.position, place=_place(self._stack[frame])
        )
        if question.split() == ["graph", "break"]:
            return self._graph_break(question, depth, frame)
        match asked.parsed(question):
            case asked.Assigned(name, value, is_setting=True):
                if not changes.is_setting(name):
                    raise EvaluationError(f"torch._dynamo.config has no setting `{name}`.")
                return make_change(depth, functools.partial(changes.setting_changed, name, value), place="")
            case asked.Assigned(name, value):
                self._local(name, frame)
                return make_change(depth, act=functools.partial(changes.set_constant, name=name, value=value))
            case asked.Decided(name, dimension, "dynamic"):
                return make_change(depth, self._dynamic(name, dimension, frame))
            case asked.Decided(name, dimension, kind):
                self._check_can_be_static(name, dimension, kind, frame)
                act = functools.partial(changes.make_static, name=name, dimension=dimension)
                return make_change(depth, act=act)

    def _graph_break(self, question: str, depth: int, frame: int) -> Change:
        """Return a break before this instruction, or in a caller at the call at which it stands."""
        state, translator = self._state, self._stack[frame]
        position, act = state.clock.traced.position, changes.break_graph
        if frame:
            own = own_instructions(
                state.clock.traced, state.frames[id(translator)], translator, state.clock.restored_at
            )
            position, act = max(position for position, _ in own), changes.break_graph_at_call
        return Change(question, position, depth, act=act, place=_place(translator))

    def _local(self, name: str, frame: int) -> tuple[object, Contents]:
        """Return a local's variable and what it contains. Raises EvaluationError."""
        names = Names(self._stack[frame])
        named = names.locals.get(name)
        if named is None:
            raise EvaluationError(f"This frame has no local variable `{name}`.")
        if named.variable is None:
            raise EvaluationError(f"The code never reads `{name}`, so Dynamo decides nothing about it.")
        content = contents(named.variable, names.effects)
        match content:
            case Cell() | Unset():
                raise EvaluationError(f"`{name}` is unbound, or shared with a nested function: it cannot be changed.")
        return named.variable, content

    def _dynamic(self, name: str, dimension: int | None, frame: int) -> Callable[[], AbstractContextManager[None]]:
        variable, content = self._local(name, frame)
        source, tensor = source_of(variable), changes.real_tensor(self._stack[frame], variable)
        if source is None:
            raise EvaluationError(f"`{name}` is computed here: only inputs can be dynamic. Ask where they have a name.")
        if tensor is not None:
            chosen = range(tensor.dim()) if dimension is None else (dimension,)
            self._check_dimension(name, dimension, tensor.dim())
            sizes = [index for index in chosen if tensor.shape[index] > 1]
            if not sizes:
                raise EvaluationError("Sizes of 0 and 1 are always fixed, so nothing would change.")
            return functools.partial(changes.marked_dynamic, tensor, sizes)
        match content:
            case Constant(int(value)) | Unrealised(int(value)) if type(value) is int:
                return functools.partial(changes.number_dynamic, source)
            case Number():
                return functools.partial(changes.number_dynamic, source)
        raise EvaluationError(f"Only an int and the sizes of a tensor can be dynamic, and `{name}` is neither.")

    def _check_can_be_static(self, name: str, dimension: int | None, kind: str, frame: int) -> None:
        _, content = self._local(name, frame)
        match content:
            case Number(symbolic) if is_symbolic(symbolic) and dimension is None:
                return
            case Tensor(example) if example is not None:
                self._check_dimension(name, dimension, example.dim())
                sizes = example.shape if dimension is None else example.shape[dimension : dimension + 1]
                if any(map(is_symbolic, sizes)):
                    return
            case Unrealised():  # what Dynamo will decide is known only once it reads the value
                return
        raise EvaluationError(f"This is {kind} already: no symbol stands for it.")

    def _check_dimension(self, name: str, dimension: int | None, dimensions: int) -> None:
        if dimension is not None and dimension >= dimensions:
            counted = (
                "1 dimension, which is number 0" if dimensions == 1 else f"{dimensions} dimensions, counted from 0"
            )
            raise EvaluationError(f"`{name}` has {counted}.")


def _place(translator: Translator) -> str:
    code = translators.code_of(translator)
    return f"{frame_name(code)}, {where(code.co_filename, translators.line_of(translator))}"
