"""Follow which compiles are of one call of a compiled function: graph breaks split it into several."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any, NamedTuple

from msgspec import Struct, field

from dynascope.agent.program.user_code import has_file, is_users, path_of
from dynascope.explain.details import is_torch
from dynascope.facts.comparison.plain_branch import FrameValues
from dynascope.facts.comparison.ranks import Collective, PartOfCall
from dynascope.facts.user_stack import UserFrame

_MOST_PARTS = 64
"""The most compiles that are compared of one call."""
_MOST_EARLIER = 32
"""The most earlier calls of a function whose collectives are known."""


class FunctionPlace(NamedTuple):
    """A compiled function, as code objects tell it."""

    path: str
    line: int
    name: str
    called_at: str = ""
    """`train.py:39`, for a wrapper of torch in which it compiles modules of its own, such as `Sequential`."""


class TracedCall(Struct):
    """The compiles of one call of a function: of its first call for which it is compiled, `number` is 0."""

    function: FunctionPlace
    number: int
    parts: list[PartOfCall] = field(default_factory=list)
    callers: tuple[UserFrame, ...] = ()
    """The user's lines at which the function is called, the innermost last."""
    values: list[FrameValues] = field(default_factory=list)
    """The counts in the frames of these lines, the innermost first."""
    gradients: dict[str, set[str]] = field(default_factory=dict)
    """The parameters whose gradients DistributedDataParallel reduces, by its process group."""
    is_over: bool = False
    """Whether nothing more is compiled of it: its function returns."""
    earlier: list[list[Collective]] = field(default_factory=list)
    """The collectives of the function's calls before this one."""
    is_compared: bool = True
    """Whether to compare it: all its collectives are known, and no divergence was reported for it."""

    def collectives(self, group: str) -> list[Collective]:
        """Return the collectives of one process group, in order."""
        return [each for part in self.parts for each in part.collectives if each.group == group]

    def earlier_texts(self, group: str) -> list[list[str]]:
        """Return the collectives of one process group of each earlier call."""
        return [texts_of(each, group) for each in self.earlier]


def texts_of(collectives: list[Collective], group: str) -> list[str]:
    """Return what has to be alike in all ranks of a group."""
    return [each.text for each in collectives if each.group == group]


class TracedCalls:
    """The calls whose compiles are in progress, one on each thread."""

    def __init__(self) -> None:
        self._numbers: dict[FunctionPlace, int] = {}
        self._earlier: dict[FunctionPlace, list[list[Collective]]] = {}
        self._calls: dict[int, TracedCall] = {}

    def compiled(self, code: types.CodeType, part: PartOfCall, called_at: str = "") -> TracedCall | None:
        """Return the call to which a compile that has just ended belongs.

        `code` is that of the function, also where what follows a graph break was compiled; it is called at the user's
        line `called_at`. None for torch's own functions without a graph, such as its wrappers around the compiled
        function, and where no call can be told from others: a function of torch or without a file.
        """
        function = FunctionPlace(path_of(code), code.co_firstlineno, code.co_qualname)
        is_wrapper = code is _wrapper_of_modules() and part.compile.status == "compiled"
        if is_wrapper:
            function = function._replace(called_at=called_at)
        thread = threading.get_ident()
        call = self._calls.get(thread)
        is_torchs = not is_users(function.path) and is_torch(UserFrame(function.path, function.line, function.name))
        if call is None or not _is_running(call.function):
            self._calls.pop(thread, None)
            if (is_torchs and not (is_wrapper and called_at)) or not has_file(function.path):
                return None
            number = self._numbers[function] = self._numbers.get(function, -1) + 1
            call = self._calls[thread] = TracedCall(function, number, earlier=list(self._earlier.get(function, ())))
            # only what follows a break was compiled again: what comes before it is not known
            call.is_compared = part.compile.resumes_at is None
        elif is_torchs and part.compile.status != "compiled":
            return None
        call.parts.append(part)
        if part.compile.status not in ("compiled", "empty") or len(call.parts) == _MOST_PARTS:
            call.is_compared = False  # what runs uncompiled may call any collective
        elif function == call.function and not part.breaks:
            call.is_over = True
            del self._calls[thread]
            known = self._earlier.setdefault(function, [])
            known.append([each for one in call.parts for each in one.collectives])
            del known[:-_MOST_EARLIER]
        return call


def _wrapper_of_modules() -> types.CodeType | None:
    """Return the code of the function in which torch wraps its own modules (`wrap_inline`, 2.1)."""
    wrappers: Any = sys.modules.get("torch._dynamo.external_utils")
    codes = () if wrappers is None else wrappers.wrap_inline.__code__.co_consts
    return next((each for each in codes if isinstance(each, types.CodeType) and each.co_name == "inner"), None)


def _is_running(function: FunctionPlace) -> bool:
    """Whether this thread is in a call of the function, in code that Dynamo has made of it."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        is_named_so = (code.co_firstlineno, code.co_qualname) == (function.line, function.name)
        if is_named_so and path_of(code) == function.path:
            return True
        frame = frame.f_back
    return False
