"""Choose advice against a recompile, and try it: what a trace comes to with each remedy. On the stopped thread."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.inspection.values.rows import Row
from dynascope.agent.internals.compile import failed_guard
from dynascope.agent.internals.guards.tree import Changed, changed_numbers, known_before_trace
from dynascope.agent.session.failed_guards import Failed, FrameStandIn
from dynascope.agent.tracing.what_if.remedy import DYNAMIC, InForce, Remedy, remedies_to_try, still_fixed, verdict
from dynascope.explain import why as says
from dynascope.explain.remedies import remedies
from dynascope.explain.size_remedies import STAYS
from dynascope.facts.recompiles.guarded_value import GuardedValue, number_wanted
from dynascope.facts.recompiles.relations import relations

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

_STILL_THERE = says.STILL_THERE.format(needs=f", because {STAYS}")


def advice(inspection: StopInspection, frame: FrameStandIn, subject: GuardedValue, same: Sequence[Failed]) -> list[Row]:
    """Return the advice on a value, and what a trace with it comes to.

    `same`: the guards that failed for it, newest first.
    """
    changed = changed_numbers(same[0].guards, frame)
    tried = _Tried(inspection, frame, subject, same[0], changed)
    hints = remedies([each.guard for each in same], [each.hint for each in same if each.hint], tried.known)
    return [*(Row("hint", hint) for hint in hints), *tried.rows]


class _Tried:
    """The traces of the frame with each remedy, and what they tell."""

    def __init__(
        self,
        inspection: StopInspection,
        frame: FrameStandIn,
        subject: GuardedValue,
        failed: Failed,
        changed: Sequence[Changed],
    ) -> None:
        self._what_if, self._frame = inspection.what_if, frame
        self._subject, self._failed, self._changed = subject, failed, changed
        self._then = number_wanted(failed.guard)
        self._value = failed_guard.guarded_object(subject, frame)
        self.rows: list[Row] = []
        self.known = known_before_trace(subject, changed, frame)
        try:
            self._try()
        except EvaluationError as error:
            self.rows.append(Row("not tried", str(error)))

    def _try(self) -> None:
        if isinstance(refused := self._remedies([]), str):
            raise EvaluationError(refused)
        if self._what_if is None:
            raise EvaluationError(says.NOT_TRACED if self._frame.translator is None else says.ANOTHER)
        plain = self._what_if.outcome("", contextlib.nullcontext)
        is_gone, text = verdict(plain, self._subject, self._then)
        if relations(self._subject.text, plain.conditions or ()).is_known:
            self.known = structs.replace(self.known, conditions=plain.conditions)
        in_force = [DYNAMIC] if self.known.dynamic else []
        helps = [self._helps(*each) for each in self._remedies(self._tied()) if each[0] not in in_force]
        if not helps:
            self.rows.append(Row("not tried", says.IN_FORCE.format(remedy=DYNAMIC)))
        is_fixed = not (any(helps) or (self.known.dynamic and is_gone))
        self.known = structs.replace(self.known, is_fixed=is_fixed, is_dynamic_now=is_gone)
        if any(helps) and not is_gone and self.known.dynamic is False:
            text = _STILL_THERE
        self.rows.insert(0, Row("this compile", f"{text}."))

    def _remedies(self, tied: Sequence[Changed]) -> Sequence[Remedy] | str:
        objects = [(each, failed_guard.guarded_object(each.subject, self._frame)) for each in tied]
        return remedies_to_try(self._subject, self._failed.whole, self._value, self._then, objects)

    def _tied(self) -> list[Changed]:
        """Return what has changed and must be dynamic with it, as this compile says.

        If that says nothing, return what has changed alike.
        """
        found = relations(self._subject.text, self.known.conditions or ())
        names = found.fits if found.is_known else self.known.together
        return [each for each in self._changed if each.subject.text in names]

    def _helps(self, remedy: str, in_force: InForce) -> bool:
        """Add a row on a remedy; return whether the guard is gone with it."""
        assert self._what_if is not None
        outcome = self._what_if.outcome(remedy, in_force)
        is_gone, text = verdict(outcome, self._subject, self._then)
        unless = says.UNLESS if is_gone and type(self._value) is float else ""
        others = still_fixed(outcome, self._subject, self._changed) if is_gone else ""
        self.rows.append(Row("tried", says.TRIED.format(remedy=remedy, verdict=text, unless=unless, others=others)))
        return is_gone
