"""Make the problems of compiles that fail, and of functions that are left uncompiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dynascope.explain.break_remedies import advice_of_torch, break_remedies
from dynascope.explain.details import is_torch
from dynascope.explain.problem import (
    RECORDED,
    Identities,
    Note,
    Place,
    Positions,
    Problem,
    at_lines,
    first_line,
    fitting,
    same_text,
)
from dynascope.facts import model
from dynascope.facts.break_message import BreakMessage, brief, explained, note_branch, user_code_of
from dynascope.facts.user_stack import logged_stack

_OF_FAKES = re.compile(
    r"with fake tensors: .*: got (?P<error>\w+)\((?P<quote>['\"])(?P<text>.+?)(?:\\n|\. |(?P=quote))", re.DOTALL
)
NO_REASON = "Dynamo gives no reason."


def could_not_compile(what: str, cause: str) -> str:
    """Say in one line that a compile failed."""
    return fitting(f"Could not compile {what}: {cause}")


def raised(fact: model.BackendFailure) -> str:
    return f"{fact.backend} raised {fact.exception}"


def backend_failed(fact: model.BackendFailure) -> str:
    """Say in one line that a backend raised an error."""
    return fitting(f"{raised(fact)} on the graph that ends here", raised(fact))


def failed_compiles(
    found: Iterable[model.Compile], identities: Identities, positions: Positions = RECORDED
) -> list[Problem]:
    """Return a problem for each function and reason for which it could not be compiled.

    It is at the line that failed, which may be in the body of an operator (`torch.cond`), if that is in the same file.
    """
    problems = of_functions("failedCompile", found, lambda each: each.failure or NO_REASON, identities, positions)
    for each in problems:
        text = brief(each.statement)
        more, message = text.partition("\n")[2], explained(text)
        each.details = [more] if more.strip() else []
        if message is not None:
            each.cause = _cause(message)
            each.details, each.registry_id = [message.explanation, *advice_of_torch(message)], message.registry_id
        each.title = could_not_compile(each.whose, each.cause)
        frames = [frame for frame in reversed(logged_stack(user_code_of(each.statement))) if not is_torch(frame)]
        each.notes = [
            Note(kind="caller", text="it failed in", subject=frame.function, place=Place(frame.path, frame.line))
            for frame in frames
        ]
        line = positions.line(frames[0].line) if frames and frames[0].path == each.place.path else None
        if line is not None:
            each.place, each.function_line = Place(each.place.path, line, each.place.source), 0
        if message is not None:
            note_branch(message, each.place.path, each.place.line)
            each.remedies = break_remedies(message)
        each.is_error = True
    return problems


def _cause(message: BreakMessage) -> str:
    raised = _OF_FAKES.search(message.explanation)
    if raised is not None:
        return f"{raised['error']}: {raised['text']}"
    return f"{message.type} in {message.operator}" if message.operator else message.type


def of_functions(
    kind: str,
    found: Iterable[model.Compile],
    reason: Callable[[model.Compile], str],
    identities: Identities,
    positions: Positions,
) -> list[Problem]:
    """Return a problem, without a title, for each function, or part of one, and reason."""
    problems = []
    for line, same in at_lines(
        found, positions, lambda each: (each.resumes_at, each.function, same_text(reason(each)))
    ):
        each, text = same[0], reason(same[0]).strip()
        rest = None if each.resumes_at is None else positions.line(each.resumes_at)
        recorded = Place(each.path, each.resumes_at or each.line, each.source)
        problems.append(
            Problem(
                id=identities.of(kind, recorded, each.function, same_text(first_line(text))),
                kind=kind,
                cause=first_line(text),
                title="",
                place=Place(each.path, rest or line, each.source),
                function=each.function,
                function_line=line,
                resumes_at=rest,
                statement=text,
                compiles=[one.id for one in same],
                count=len(same),
            )
        )
    return problems


_NO_OPERATIONS = re.compile("No ops traced")
"""Why Dynamo skips a frame in which there is nothing to compile."""
_NOTHING = "Nothing to compile: {} has no operation"


def not_compiled(what: str, cause: str) -> str:
    """Say in one line that a function, or part of one, runs uncompiled; `cause` may be ""."""
    return fitting(uncompiled(what, cause), uncompiled(what))


def uncompiled(what: str, cause: str = "") -> str:
    return f"Not compiled: {what} runs as plain Python{f': {cause}' if cause else ''}"


def skipped_frames(
    found: Iterable[model.Compile], identities: Identities, positions: Positions = RECORDED
) -> list[Problem]:
    """Return a problem for each function, or part of one, that runs uncompiled for one reason."""
    problems = of_functions("skippedFrame", found, lambda each: each.skip_reason or "", identities, positions)
    for each in problems:
        is_empty = _NO_OPERATIONS.search(each.statement) is not None
        whole, part = each.whose, each.whose.partition(" of ")[0]
        empty = fitting(*(_NOTHING.format(name) for name in (whole, part)))
        each.title = empty if is_empty else not_compiled(whole, each.cause)
    return problems
