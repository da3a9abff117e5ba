"""Parse Dynamo's message of a graph break, from a live trace or from a log.

`torch._dynamo.exc.format_graph_break_message` (2.8): type, then indented "Explanation:", "Hint:"s,
"Developer debug context:", and a link that ends in the registry's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from dynascope.facts.model import BreakEffect, GraphBreak, StackFrame

_ANOTHER = "*** While handling this graph break, another graph break occurred: ***"
_EARLIER = "may have been caused by an earlier graph break"
_REGISTRY_ID = re.compile(r"/(gb\d+)(?:\.html)?", re.IGNORECASE)
_PART = re.compile(r"^  (?=Explanation: |Hint: |Developer debug context: |Higher Order Operator: )", re.MULTILINE)
_LINK = "\n\n For more details about this graph break, please visit: "
_SKIPPED = "Failed to handle graph break gracefully."
_NOT_RESUMED = "Encountered graph break that we cannot resume from."
_LOGGED_FRAME = re.compile(r'^ {2,3}File "(?P<path>.+)", line (?P<line>\d+), in (?P<function>.+)$', re.MULTILINE)
USER_CODE = "\nfrom user code:\n"
_HOW_TO_SEE_MORE = "\nSet TORCHDYNAMO_VERBOSE=1 "
_RESUME_NAME = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+$")
_NODE_NUMBER = re.compile(r"(?<=[^\W\d])_\d+\b")
_NUMBER = re.compile(r"\d+")
_DYNAMO_FOLDERS = ("/torch/_dynamo/", "\\torch\\_dynamo\\")


class BreakMessage(Struct, kw_only=True):
    """The parts of a message; `registry_id` is `GB0059`, `page` its address in the message."""

    type: str
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    context: str = ""
    registry_id: str | None = None
    page: str | None = None

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


def consequences(messages: Iterable[str]) -> list[tuple[BreakMessage, list[int]]]:
    """Return what these breaks led to, each with the places of the messages that have it."""
    found: dict[tuple[str, str], tuple[BreakMessage, list[int]]] = {}
    for place, message in enumerate(messages):
        for each in parse_all(message)[1:]:
            _, places = found.setdefault((each.title, without_numbers(each.explanation)), (each, []))
            if place not in places[-1:]:
                places.append(place)
    return list(found.values())


def prose(breaks: Sequence[BreakMessage]) -> str:
    """Return nested breaks as text: type, explanation, hints, page; the cause first."""
    texts = []
    for each in breaks:
        hints = (f"Hint: {hint}" for hint in each.hints)
        texts.append("\n".join(line for line in (each.type, each.explanation, *hints, each.page) if line))
    return "\n\nIt led to another graph break: ".join(texts)


def _parse_one(message: str) -> BreakMessage:
    body, _, link = message.strip().partition(_LINK)
    found = _REGISTRY_ID.search(link)
    type_line, *parts = _PART.split(body)
    read = BreakMessage(
        type=type_line.strip().split("\n", 1)[0],
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


def user_code_of(error: str) -> str:
    """Return the frames of the program in the text of an error of torch's; "" without such."""
    _, found, frames = without_advice(error).rpartition(USER_CODE)
    return frames.rstrip() if found else ""


def logged_stack(text: str) -> list[StackFrame]:
    """Return the frames of a traceback printed by Python, outermost first."""
    return [StackFrame(found["path"], int(found["line"]), found["function"]) for found in _LOGGED_FRAME.finditer(text)]


def tidy_stack(frames: Sequence[StackFrame]) -> list[StackFrame]:
    """Name resume functions by their functions; merge a frame with its resume function's."""
    tidy: list[StackFrame] = []
    for frame in frames:
        resumed = _RESUME_NAME.match(frame.function)
        if resumed is not None:
            frame = StackFrame(frame.path, frame.line, resumed.group(1))
            if tidy and tidy[-1].path == frame.path and tidy[-1].function.rpartition(".")[2] == frame.function:
                tidy.pop()
        tidy.append(frame)
    return tidy


def place(stack: Sequence[StackFrame]) -> StackFrame | None:
    """Return the innermost frame outside Dynamo (its polyfills are Python that replaces C)."""
    for frame in reversed(stack):
        if not any(folder in frame.path for folder in _DYNAMO_FOLDERS):
            return frame
    return None


def graph_break(message: str, effect: BreakEffect, frames: Sequence[StackFrame], otherwise: StackFrame) -> GraphBreak:
    """Return the fact of a break; `frames` are outermost first, `otherwise` is a fallback."""
    parts = parse_all(message)[0]
    stack = tidy_stack(frames)
    at = place(stack) or otherwise
    return GraphBreak(
        path=at.path,
        line=at.line,
        function=at.function,
        registry_id=parts.registry_id,
        type=parts.type,
        reason=message,
        context=parts.context,
        explanation=parts.explanation,
        hints=parts.hints,
        stack=stack,
        effect=effect,
    )
