"""Say at a stop what the compiler has decided, and why: the text below the line that every speaker has."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.explain.break_remedies import advice_of_torch, break_remedies
from dynascope.explain.details import Effect, as_sentence, effect
from dynascope.explain.failures import NO_REASON
from dynascope.explain.problem import Problem, where
from dynascope.explain.recompiles import LIMIT_REMEDY, RecompileKind, failed_guard, title
from dynascope.explain.remedies import MADE_SINCE, remedies_of
from dynascope.facts.break_message import BreakMessage
from dynascope.facts.break_subject import about
from dynascope.facts.counts import counted
from dynascope.facts.recompiles.causes import Cause

_RETURNS, _JUMPS, _UNCOMPILED = "return_value", "generic_jump", "step_unsupported"
"""torch's reasons for the end of a graph that is no graph break (`OutputGraph.compile_subgraph_reason`, 2.0)."""
AFTER_LIMIT = "a call that fits no compiled code runs uncompiled, or raises an error with fullgraph=True."
IS_AN_ERROR = "torch._dynamo.config.error_on_recompile makes it an error."
WHERE_MORE_IS_TOLD = (
    "The guard of each compile, and what helps: `why` at the prompt or in the debug console.\n"
    "What differs then: `compare` at the prompt, or Compare Compiles in VS Code."
)

OTHERS_MAY_WAIT = "Ranks that have compiled this call before this one may already wait in a collective."
BACK_TO_WHERE_RANKS_PART = (
    "Jump to Cursor goes back to the line where the ranks part, Step Back to the compile's last line."
)


def parted(problem: Problem, goes_back: bool) -> list[str]:
    """Return what a rank says that is stopped before it calls other collectives than the others.

    `goes_back`: whether the debugger can go back to the line where they part.
    """
    hints = (f"Hint: {each}" for each in problem.remedies)
    back = [BACK_TO_WHERE_RANKS_PART] if goes_back else []
    return [problem.effect, *problem.details, OTHERS_MAY_WAIT, *hints, *back]


def breaks(messages: Sequence[BreakMessage]) -> str:
    """Return nested breaks as text: type, explanation, hints, page; the cause first."""
    texts = []
    for each in messages:
        hints = (f"Hint: {remedy}" for remedy in break_remedies(each))
        lines = (about(each), each.explanation, *advice_of_torch(each), *hints, each.page)
        texts.append("\n".join(line for line in lines if line))
    return "\n\nIt led to another graph break: ".join(texts)


def graph_break(messages: Sequence[BreakMessage], known: Effect, is_before_graph: bool, resumes_at: int | None) -> str:
    """Return breaks, and what comes of them in the compile that is stopped.

    `is_before_graph`: no operation comes before the break. `resumes_at`: see `effect`.
    """
    return f"{breaks(messages)}\n\n{as_sentence(effect(known, is_before_graph, 'the graph', resumes_at))}"


def recompile(
    kind: RecompileKind, what: str, found: Sequence[Cause], fits: Sequence[str], more: Sequence[str]
) -> tuple[str, str]:
    """Return the line and text of a call for which guards failed; those of `fits` hold now."""
    line = title(kind, found[0].about if found else "", what)
    failed = [
        failed_guard(each) + (f" ({where(each.guard_path, each.guard_line or 0)})" if each.guard_path else "")
        for cause in found
        for each in cause.entries
    ]
    fitting = [f"Compile {each} fits now: {MADE_SINCE}." for each in fits]
    hints = dict.fromkeys(f"Hint: {hint}" for cause in found for hint in remedies_of(cause))
    return line, "\n".join([line, *(failed or [NO_REASON]), *fitting, *hints, *more])


def limit(setting: str, value: int) -> list[str]:
    """Return what is said of a limit that is reached, and against it."""
    return [f"torch._dynamo.config.{setting} is {value}: {AFTER_LIMIT}", f"Hint: {LIMIT_REMEDY.format(setting)}"]


def graph_end(
    reason: str, messages: Sequence[BreakMessage], outputs: int | None, values: int, rest: Sequence[str]
) -> str:
    """Return why a graph ends; `outputs` is None without one, `rest` continues the function."""
    why, then = "at the return" if reason == _RETURNS else "here", ", ".join(rest)
    if reason.startswith(_JUMPS):  # to both branches, each with the frames that called this one
        middle = len(rest) // 2
        why = "at a jump that depends on data"
        then = f"{', '.join(rest[:middle])} or {', '.join(rest[middle:])}" if rest else ""
    elif messages and reason != _UNCOMPILED:
        why = f"at a graph break ({messages[0].registry_id or messages[0].type})"
    elif not rest and reason == _UNCOMPILED:
        then = "the rest runs uncompiled"
    what = "no graph to call" if outputs is None else counted(outputs, "output")
    return f"The graph ends {why}: {what}, {counted(values, 'value')} to restore{f', then {then}' if then else ''}"


def specialized(title: str, reason: str, constraints: Sequence[str]) -> str:
    """Return why a symbol is fixed; `constraints` are of the mark that forbids it."""
    lines = [f"{title}: a call with another value is compiled again."]
    if reason:
        lines.append(f"Reason: {reason}")
    if constraints:
        lines.append(f"It was marked dynamic: {'; '.join(constraints)}. Dynamo will raise a violation.")
    return "\n".join(lines)
