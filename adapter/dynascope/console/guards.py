"""`guards`: show the guards so far, and ask about those of compiled code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dynascope.console import Command, is_with
from dynascope.wire.dap import EvaluateResult

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection
    from dynascope.agent.session.guard_answers import GuardQuestion

_QUESTION = re.compile(r"(?:(check|filters|saved)(?![\w/]))?\s*(\S*\d/\S*\d)?(?:\s+([^\W\d]\w*))?")
_NO_GUARDS = (
    "Guards are collected while Dynamo compiles, and here the program runs: `guards check` asks about compiled code."
)
_SO_FAR = "guards so far"
_MOST = 10_000
"""The maximum number of guards of which those with a text are found."""


def _at_runtime(argument: str, variables: Mapping[str, Any]) -> str:
    from dynascope.agent.session.guard_answers import at_runtime

    question = _question(argument)
    return _NO_GUARDS if question is None else at_runtime(question, variables)


@Command(
    "guards",
    usage="[TEXT] | ID [all] | check [ID] | filters [ID] [NAME] | saved [ID] [NAME]",
    page="guards.md",
    words=lambda: ("check", "filters", "saved"),
    answers_with="rows",
    at_runtime=_at_runtime,
)
def guards(inspection: StopInspection, frame_id: int, argument: str) -> EvaluateResult:
    """Show the guards installed so far, which must be true to use the compiled code again.

    With TEXT, show only the rows that contain it. After a compile, at run time too: `guards 0/1` shows the guards of
    that compile as torch evaluates them at each call, with what each costs (of more than 300 those that cost little
    are folded: `guards 0/1 all` has all); `guards check` evaluates them for the
    values in this frame, and tells which fails first, for each compile of this function or one: `guards check 0/1`.
    `guards filters 0/1` tells what each filter of guards (`guard_filter_fn`) would drop of them, what that saves, and
    what could change then without a recompile; all of it for one filter: `guards filters 0/1 NAME`.
    `guards saved 0/1` tells which of them a package (`aot_compile`, `caching_precompile`) could save and load again,
    which it drops, and what to do about the others; all of it for one: `guards saved 0/1 aot_compile`.
    """
    from dynascope.agent.session.guard_answers import answer

    question = _question(argument)
    return _rows(inspection, frame_id, argument) if question is None else answer(inspection, frame_id, question)


def _question(argument: str) -> GuardQuestion | None:
    """Return what is asked about compiled code; None for a text that guards so far may contain."""
    from dynascope.agent.session.guard_answers import GuardQuestion

    match = _QUESTION.fullmatch(argument)
    if match is None or not (match[1] or match[2]):
        return None
    if match[1] is None and match[3] == "all":
        return GuardQuestion("all", match[2])
    if match[3] and match[1] not in ("filters", "saved"):
        return None
    return GuardQuestion(match[1] or "costs", match[2] or "", match[3] or "")


def _rows(inspection: StopInspection, frame_id: int, text: str) -> EvaluateResult:
    """Return the rows of the scope Guards that contain a text. Raises EvaluationError."""
    from dynascope.agent.inspection.row_paths import scope_reference
    from dynascope.agent.inspection.values import EvaluationError
    from dynascope.agent.inspection.values.guard_rows import PART_OF_GUARDS
    from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, fixed
    from dynascope.facts.recompiles.guarded_value import readable

    reference = scope_reference(inspection, frame_id, "Guards")
    if reference is None:
        raise EvaluationError(_NO_GUARDS)
    if not text:
        return EvaluateResult(result=_SO_FAR, variables_reference=reference)
    children, names = inspection.children(reference)
    rows, written = children.all_rows(), readable(text)  # `L['self']`, as torch writes it
    with inspection.isolated():
        options = names.options() if names is not None else ViewOptions(None)
        made = [*rows.make(options, 0, min(rows.count, _MOST))]
        parts = [row.children for row in made if row.type == PART_OF_GUARDS and row.children is not None]
        made = [row for row in made if row.type != PART_OF_GUARDS]
        made += [row for part in parts for row in part.page(options, None, 0, None)]
        found = [row for row in made if is_with(row, written)]
    if not found:
        raise EvaluationError(f"No guard so far contains `{text}`.")
    return inspection.result(Row("", f"{_SO_FAR} with `{text}`", children=Children(named=fixed(found))), names)
