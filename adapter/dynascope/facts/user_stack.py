"""Read the stacks of the program at which Dynamo breaks a graph, guards or fails: torch's `user_stack`s."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_LOGGED_FRAME = re.compile(r'^ {2,3}File "(?P<path>.+)", line (?P<line>\d+), in (?P<function>.+)$', re.MULTILINE)
_RESUME_NAME = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+$")
_STANDARD_LIBRARY = re.compile(
    r"(?:/lib(?:64)?/python3\.\d+t?/|\\Python3\d+t?\\lib\\)(?!(?:site|dist)-packages[/\\])", re.IGNORECASE
)
_TORCH = re.compile(r"[/\\](?:site|dist)-packages[/\\]torch[/\\]")
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_DYNAMO_FOLDERS = ("/torch/_dynamo/", "\\torch\\_dynamo\\")


class UserFrame(Struct, array_like=True, frozen=True, gc=False):
    """One frame of a user stack: a line of the program, and the function that it is in."""

    path: str
    line: int
    function: str


def logged_stack(text: str) -> list[UserFrame]:
    """Return the frames of a traceback printed by Python, outermost first."""
    return [UserFrame(found["path"], int(found["line"]), found["function"]) for found in _LOGGED_FRAME.finditer(text)]


def tidy_stack(frames: Sequence[UserFrame]) -> list[UserFrame]:
    """Name resume functions by their functions; merge a frame with its resume function's."""
    tidy: list[UserFrame] = []
    for frame in frames:
        resumed = _RESUME_NAME.match(frame.function)
        if resumed is not None:
            frame = UserFrame(frame.path, frame.line, resumed.group(1))
            if tidy and tidy[-1].path == frame.path and tidy[-1].function.rpartition(".")[2] == frame.function:
                tidy.pop()
        tidy.append(frame)
    return tidy


def innermost(stack: Sequence[UserFrame]) -> UserFrame | None:
    """Return the innermost frame outside Dynamo (its polyfills are Python that replaces C)."""
    for frame in reversed(stack):
        if not any(folder in frame.path for folder in _DYNAMO_FOLDERS):
            return frame
    return None


def to_blame(stack: Sequence[UserFrame]) -> UserFrame | None:
    """Return the innermost frame outside Dynamo; of a library, its caller.

    Libraries are torch and Python's own. A frame of theirs is left where an installed package calls it.
    """
    at = innermost(stack)
    if at is None or not _is_library(at):
        return at
    caller = innermost([frame for frame in stack if not _is_library(frame)])
    return at if caller is None or _INSTALLED.search(caller.path) else caller


def _is_library(frame: UserFrame) -> bool:
    return any(pattern.search(frame.path) for pattern in (_STANDARD_LIBRARY, _TORCH))
