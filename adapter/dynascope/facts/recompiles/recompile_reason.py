"""Parse Dynamo's text of a failed guard, from a live trace or from a log.

`torch._dynamo.guards.get_guard_fail_reason` (2.1): `0/0: n == 2  # return x * n  # model.py:18 in f`, and since 2.13
the user's stack after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

_COMPILE_ID = re.compile(r"^([!\d/]+): ", re.ASCII)
_COMMENT = re.compile(r"# (?P<path>[^#\n]+?):(?P<line>\d+) in ")
_FRAME = re.compile(r'^  File "(?P<path>[^<].*)", line (?P<line>\d+), in ', re.MULTILINE)
_HINTS = (
    re.compile(r"\(HINT: (?!type |guard on )(?P<hint>.+?)\)\s*$", re.DOTALL),
    re.compile(r"to avoid specialization (?P<hint>try torch\._dynamo\.decorators\.mark_unbacked\(.*?\))\)", re.DOTALL),
    re.compile(r"Guard failed on a parameter, (?P<hint>consider using .+?)\.?\s*$", re.DOTALL),
)
_FIRST_USE = re.compile(r"\S+ \(user code shown is first use")
_MAKER = re.compile(r"\((?P<path>_\w+/\S+\.py):\d+ in ")
_BOUND_OF_TWO = re.compile(r"2 <= [^ ]+\.size\(\)\[\d+\]")
_OF_MARK = "_dynamo/variables/builder.py"
"""Where Dynamo turns the bounds of a mark into a guard (2.1)."""
RANGE_OF_MARK = "The size was marked with this range: give the mark another `min` or `max`, or none."
NO_GUARD = "no guard: all of them hold now"
"""The text in place of a failed guard where torch finds that none fails (2.11)."""
_UNEXPECTED = "Unexpected recompilation: "
_STACK = "\nUser stack trace:"
_FAILURES = (
    (re.compile(r"(len\(.+\)) != (\d+)$"), r"\1 == \2"),
    (re.compile(r"KeyError on (.+)\[([^\[\]]+)\]$"), r"\2 in \1"),
    (re.compile(r"(?:KeyError on|getattr failed on source) (.+)\.(\w+)$"), r"hasattr(\1, '\2')"),
    (re.compile(r"IndexError on (.+)\[(\d+)\]$"), r"len(\1) > \2"),
)
"""The messages of torch's C++ guards on containers and attributes (2.1), each with the condition that was false."""


class FailedGuard(Struct, kw_only=True):
    """`failed_compile_id` is of the compile that the guard belongs to; `path` and `line` are the user's, if known."""

    failed_compile_id: str
    guard: str
    path: str | None = None
    line: int | None = None
    hint: str | None = None
    """Dynamo's advice about the guard, or about the mark that made it."""
    no_line_needs_it: bool = False
    """Whether the guard is there for 0 and 1, or for the range of a mark."""


def parse(reason: str, function_path: str) -> FailedGuard:
    """Parse a reason; the recompiled function's `function_path` completes a shortened path."""
    found = _COMPILE_ID.match(reason)
    compile_id, text = (found.group(1), reason[found.end() :]) if found is not None else ("", reason)
    head, _, stack = text.partition(_STACK)
    if text.startswith(_UNEXPECTED):
        return FailedGuard(failed_compile_id=compile_id, guard=NO_GUARD)
    hints = (found["hint"] for pattern in _HINTS if (found := pattern.search(head)) is not None)
    guard = head.partition("  # ")[0].partition(". Guard failed on a parameter, ")[0].strip()
    for failure, condition in _FAILURES:
        guard = failure.sub(condition, guard)
    read = FailedGuard(failed_compile_id=compile_id, guard=guard, hint=next(hints, None))
    if read.hint is not None and "mark_unbacked" in read.hint and not is_bound_of_two(guard):
        read.hint = None  # it is against 0 and 1, and another bound may have failed
    if is_range_of_mark(head):
        read.hint, read.no_line_needs_it = RANGE_OF_MARK, True
        return read
    if is_of_zero_and_one(head):
        read.no_line_needs_it = True
        return read
    frames = list(_FRAME.finditer(stack))
    if frames:
        read.path, read.line = frames[-1]["path"], int(frames[-1]["line"])
    elif (found_place := place(head, (function_path,))) is not None:
        read.path, read.line = found_place
    return read


def of_guards(reasons: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the reasons that tell a guard, and the ids of compiles whose guards all hold now.

    Where each compile is such, return all reasons and no ids. Torch looks up compiled code before it waits for its
    lock, and does not look again.
    """
    found = [each for each in reasons if parse(each, "").guard != NO_GUARD]
    fitting = [parse(each, "").failed_compile_id for each in reasons if each not in found]
    return (found, fitting) if found else ([*reasons], [])


def place(text: str, paths: Iterable[str]) -> tuple[str, int] | None:
    """Return the user's line in Dynamo's remark on a guard, in one of the files `paths`.

    A line that only uses the value first is passed over, if there is one that needs the guard.
    """
    comments = _COMMENT.finditer(text.partition(_STACK)[0])
    for comment in sorted(comments, key=lambda each: _FIRST_USE.match(text, each.end()) is not None):
        shortened = comment["path"].rpartition("# ")[2].strip()
        path = next((path for path in paths if path.endswith(shortened)), None)
        if path is not None:
            return path, int(comment["line"])
    return None


def is_bound_of_two(guard: str) -> bool:
    """Whether all that a guard wants of a size is to be neither 0 nor 1."""
    return _BOUND_OF_TWO.fullmatch(guard) is not None


def is_range_of_mark(text: str) -> bool:
    """Whether a guard holds a size to the `min` and `max` that it was marked with."""
    return {found["path"] for found in _MAKER.finditer(text)} == {_OF_MARK}


def is_of_zero_and_one(text: str) -> bool:
    """Whether a guard on a size exists only because Dynamo compiles 0 and 1 by themselves."""
    return "due to 0/1 specialization" in text and _MAKER.search(text) is None
