"""Parse Dynamo's message of a graph break, from a live trace or from a log.

`torch._dynamo.exc.format_graph_break_message` (2.8): type, then indented "Explanation:", "Hint:"s,
"Developer debug context:", and a link that ends in the registry's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from dynascope.facts.branch import Branch, branch_at, use_of_result, use_of_sequences
from dynascope.facts.model import BreakEffect, GraphBreak
from dynascope.facts.user_stack import UserFrame, innermost, tidy_stack, to_blame

_JUMP = "GB0170"
_OF_CONDITIONS = ("GB0033", "GB0124", _JUMP)
"""Breaks that a condition on the value of a tensor may make: `x.sum() > 0`, `x.item() > 0`, `math.exp(x) > 0`."""
_RECURRENT = "GB0014"
_DYNAMIC_SHAPE = "GB0036"
_ANOTHER = "*** While handling this graph break, another graph break occurred: ***"
_EARLIER = "may have been caused by an earlier graph break"
_REGISTRY_ID = re.compile(r"/(gb\d+)(?:\.html)?", re.IGNORECASE)
_PART = re.compile(r"^  (?=Explanation: |Hint: |Developer debug context: |Higher Order Operator: )", re.MULTILINE)
_LINK = "\n\n For more details about this graph break, please visit: "
_SKIPPED = "Failed to handle graph break gracefully."
_NOT_RESUMED = "Encountered graph break that we cannot resume from."
_HOW_TO_SEE_MORE = "\nSet TORCHDYNAMO_VERBOSE=1 "
_LOGGING = re.compile(
    r"^(For (more information|extended logs|more debugging help|C\+\+ stack trace)"
    r"|If you suspect the guard was triggered from C\+\+|consider using data-dependent friendly APIs)[^\n]*\n?",
    re.MULTILINE,
)
_STACK = re.compile(r"^(?:User [Ss]tack[^\n]*|from user code):\n(?P<frames>(?:[ \t]+[^\n]*\n?)*)", re.MULTILINE)
_NODE_NUMBER = re.compile(r"(?<=[^\W\d])_\d+\b")
_NUMBER = re.compile(r"\d+")
_DATA_DEPENDENT = re.compile(
    r"Could not (?:guard on|extract specialized integer from) data-dependent expression [^\n]*?(?= \()"
)
_OPERATOR = "HOP: "
_EXPLAINED = "\n  Explanation: "


class BreakMessage(Struct, kw_only=True):
    """The parts of a message; `registry_id` is `GB0059`, `page` its address in the message."""

    type: str
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    context: str = ""
    operator: str = ""
    """The operator in the body of which it is: `torch.cond`."""
    registry_id: str | None = None
    page: str | None = None
    branch: Branch = ""
    """The use of the value on the line of the graph break; "" if it is no use that is known."""

    @property
    def title(self) -> str:
        """Return `GB0059: Attempted …`, or the type alone."""
        return f"{self.registry_id}: {self.type}" if self.registry_id else self.type


def parse_all(message: str) -> list[BreakMessage]:
    """Return all nested breaks, at least one, with the cause of the others first.

    Each later break happens while Dynamo handles the one before. The hint that an earlier break may have caused it is
    removed, because that one is named.
    """
    cause, *others = (_parse_one(part) for part in message.split(_ANOTHER))
    for each in others:
        each.hints = [hint for hint in each.hints if _EARLIER not in hint]
    return [cause, *others]


def note_branch(message: BreakMessage, path: str, line: int) -> None:
    """Note what the line of a graph break does with a value, such as to decide by it."""
    if message.registry_id in _OF_CONDITIONS:
        message.branch = branch_at(path, line, is_of_call=message.registry_id != _JUMP)
    elif message.registry_id == _DYNAMIC_SHAPE:
        message.branch = use_of_result(path, line)
    elif message.registry_id == _RECURRENT:
        message.branch = use_of_sequences(path)


def explained(error: str) -> BreakMessage | None:
    """Return the graph break in the message of a Dynamo error; None if it contains none."""
    before, found, _ = error.partition(_EXPLAINED)
    if not found:
        return None
    return _parse_one(error[before.rfind("\n\n") + 1 :].removeprefix("\n"))


def consequences(messages: Iterable[str]) -> list[tuple[BreakMessage, list[int]]]:
    """Return what these breaks led to, each with the places of the messages that have it."""
    found: dict[tuple[str, str], tuple[BreakMessage, list[int]]] = {}
    for place, message in enumerate(messages):
        for each in parse_all(message)[1:]:
            _, places = found.setdefault((each.title, without_numbers(each.explanation)), (each, []))
            if place not in places[-1:]:
                places.append(place)
    return list(found.values())


def _parse_one(message: str) -> BreakMessage:
    body, _, link = message.strip().partition(_LINK)
    found = _REGISTRY_ID.search(link)
    type_line, *parts = _PART.split(body)
    expression = _DATA_DEPENDENT.search(type_line)
    read = BreakMessage(
        type=expression.group()
        if expression is not None
        else type_line.strip().split("\n", 1)[0].removeprefix(_OPERATOR),
        registry_id=found.group(1).upper() if found is not None else None,
        page=link.strip().split(maxsplit=1)[0] if link.strip() else None,
    )
    for part in parts:
        name, _, text = part.partition(": ")
        text = re.sub(r"\n +", "\n", text).strip()
        if name == "Explanation":
            read.explanation = text
        elif name == "Hint":
            read.hints.append(text)
        elif name == "Developer debug context":
            read.context = text
        elif name == "Higher Order Operator":
            read.operator = text
    return read


def without_numbers(text: str) -> str:
    """Remove the numbers of nodes (`gt_2`), symbols and sizes, which differ between compiles."""
    return _NUMBER.sub("#", _NODE_NUMBER.sub("", text))


def split_reason(logged: str) -> tuple[BreakEffect, bool, str]:
    """Split a logged reason into the break's effect, whether Dynamo counts it, and its message.

    The reason is Dynamo's activity, a colon, an empty line, and the message; only the message for a break at a jump,
    which Dynamo does not count.
    """
    if logged.startswith(_SKIPPED):
        return "function uncompiled", False, logged.partition("\n\n")[2] or logged
    if logged.startswith(_NOT_RESUMED):
        return "rest uncompiled", False, logged.partition("\n\n")[2] or logged
    doing, separator, message = logged.partition(":\n\n")
    counted = bool(separator) and "\n" not in doing
    return "resumed", counted, message if counted else logged


def without_advice(error: str) -> str:
    """Return the text of an error of torch's without how to log more of it."""
    return error.partition(_HOW_TO_SEE_MORE)[0]


def brief(reason: str) -> str:
    """Return torch's text of a break without the stack, and without how to log more."""
    return re.sub(r"\n{3,}", "\n\n", _STACK.sub("", _LOGGING.sub("", without_advice(reason)))).strip()


def user_code_of(error: str) -> str:
    """Return the frames of the program in the text of an error of torch's; "" without such."""
    frames = [found["frames"].rstrip() for found in _STACK.finditer(without_advice(error))]
    return frames[-1] if frames else ""


def graph_break(message: str, effect: BreakEffect, frames: Sequence[UserFrame], otherwise: UserFrame) -> GraphBreak:
    """Return the fact of a break; `frames` are outermost first, `otherwise` is a fallback."""
    parts = parse_all(message)[0]
    stack = tidy_stack(frames)
    at = to_blame(stack) or otherwise
    context, inside = parts.context, innermost(stack)
    if at in stack and inside is not None and at != inside:  # what it called in a library is no caller
        stack = stack[: len(stack) - stack[::-1].index(at)]
        context = f"{context}\n{inside.path}:{inside.line}"
    note_branch(parts, at.path, at.line)
    return GraphBreak(
        path=at.path,
        line=at.line,
        function=at.function,
        registry_id=parts.registry_id,
        type=parts.type,
        reason=message,
        context=context,
        explanation=parts.explanation,
        hints=parts.hints,
        branch=parts.branch,
        stack=stack,
        effect=effect,
    )
