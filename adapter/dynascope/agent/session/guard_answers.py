"""Answer `guards 0/1`, `guards check`, `guards filters` and `guards saved`, on the stopped thread."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dynascope.agent.inspection.values import EvaluationError
from dynascope.agent.internals.codegen.generated import compiled_from
from dynascope.agent.program.collector import collection_postponed
from dynascope.console import BadCommand
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection
    from dynascope.agent.internals.guards.tree import CacheEntry

_NO_FUNCTION = "Guards are evaluated where a compiled function is traced or runs: select such a frame."
_NOTHING_COMPILED = "The program has not compiled anything yet."


class GuardQuestion(NamedTuple):
    """What is asked about guards, and of which entry ("" for every one)."""

    asked: str
    """One of costs, check, filters, saved, all."""
    compile_id: str
    name: str = ""
    """The filter of guards, or the way to save them; "" for all."""


def answer(inspection: StopInspection, frame_id: int, question: GuardQuestion) -> EvaluateResult:
    """Answer for a frame of a compile-time stop. Raises BadCommand or EvaluationError.

    A frame in a trace stands for the function that is being compiled.
    """
    from dynascope.agent.internals.frames import translators

    frame = inspection.runtime_frame(frame_id)
    if frame is not None:
        return EvaluateResult(result=_told(frame.f_code, frame.f_locals, question), variables_reference=0)
    if inspection.names_of(frame_id) is None:
        raise EvaluationError(_NO_FUNCTION)
    compiled = inspection.frame(inspection.frames[inspection.symbolic_frames - 1].id)
    told = _told(translators.code_of(compiled), vars(compiled)["f_locals"], question)
    return EvaluateResult(result=told, variables_reference=0)


def at_runtime(question: GuardQuestion, variables: Mapping[str, Any]) -> str:
    """Answer for the frame with these variables, one of the callers.

    debugpy evaluates a call of this function in a frame of the running program.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and (frame.f_code.co_name == "<module>" or not _sees(frame, variables)):
        frame = frame.f_back
    if frame is None:
        return _NO_FUNCTION
    try:
        return _told(frame.f_code, frame.f_locals, question)
    except (BadCommand, EvaluationError) as error:
        return str(error)


def _told(running: types.CodeType, variables: Mapping[str, Any], question: GuardQuestion) -> str:
    if "torch._dynamo.convert_frame" not in sys.modules:
        raise EvaluationError(_NOTHING_COMPILED)
    from dynascope.agent.documents.guard_trees import checked, with_costs
    from dynascope.agent.documents.saved_guards import saved_guards
    from dynascope.agent.internals.frames.resume import frame_name
    from dynascope.agent.internals.guards.tree import cache_entries
    from dynascope.agent.isolation.isolation import as_for_the_call

    code, values = compiled_from(running), dict(variables)
    entries = cache_entries(code)
    if not entries:
        raise EvaluationError(f"{frame_name(code)} has no compiled code now. {_NO_FUNCTION}")
    asked = [entry for entry in entries if question.compile_id in ("", entry.compile_id)]
    if not asked:
        there = ", ".join(entry.compile_id for entry in entries)
        raise EvaluationError(f"{frame_name(code)} has no compiled code [{question.compile_id}]; it has: {there}.")
    with collection_postponed(), as_for_the_call():
        if question.asked == "filters":
            return _filters(code, asked[0], values, question.name)
        if question.asked == "saved":
            return saved_guards(code, asked[0], values, question.name)
        if question.asked == "check":
            return checked(code, asked, values)
        return with_costs(code, asked[0], values, whole=question.asked == "all")


def _filters(code: types.CodeType, entry: CacheEntry, values: dict[str, Any], name: str) -> str:
    from dynascope.agent.documents.guard_filters import filters

    try:
        return filters(code, entry, values, name)
    except BadCommand:
        raise
    except Exception as error:  # of a filter of the program, or of torch about what it returns
        if not name:
            raise
        raise EvaluationError(f"With the filter {name}: {type(error).__name__}: {error}") from error


def _sees(frame: types.FrameType, variables: Mapping[str, Any]) -> bool:
    """Whether these are a frame's variables, its globals included, as debugpy passes them."""
    local_names = dict(frame.f_locals)
    names = {*frame.f_globals, *local_names, "globals"}  # debugpy adds a function `globals`
    return names == {*variables, "globals"} and all(variables[name] is value for name, value in local_names.items())
