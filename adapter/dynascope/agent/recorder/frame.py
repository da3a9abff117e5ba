"""Keep what the recording knows of a frame while Dynamo traces it, and of its code object."""

from __future__ import annotations

import types
import weakref
from typing import Any

from dynascope.agent.internals.frames import resume as line_events
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.program.user_code import is_user_code, real_path


class Code:
    """The facts of a code object that are the same each time it is traced."""

    __slots__ = ("_of", "first_line", "function", "has_file", "is_user_code", "parameters", "path", "stored")

    def __init__(self, translator: Any) -> None:
        code = translators.code_of(translator)
        self._of = weakref.ref(code)
        original = original_code(code)
        self.path = path_of(code)
        self.has_file = has_file(self.path)
        self.is_user_code = self.has_file and is_user_code(self.path)
        self.first_line = original.co_firstlineno
        self.function = original.co_qualname
        # a resume function's prologue restores locals on lines that assign others
        self.stored = (
            line_events.names_stored(translator) if original is code else line_events.names_stored_by(original)
        )
        self.parameters = line_events.parameter_names(translator) if original is code else ()

    def is_of(self, code: types.CodeType) -> bool:
        """Whether these are the facts of this code object.

        Another may have got the identity of one that is gone.
        """
        return self._of() is code


def path_of(code: types.CodeType) -> str:
    return path_of_file(code.co_filename)


def path_of_file(name: str) -> str:
    """Return a file's real path; for code without a file its name, such as `<eval_with_key>.3`."""
    return real_path(name) if has_file(name) else name


def has_file(name: str) -> bool:
    """Whether code of this name is from a file."""
    return bool(name) and not name.startswith("<")


def is_users(path: str) -> bool:
    return is_user_code(real_path(path))


_KNOWN_CODES = 20_000
_codes: dict[int, Code] = {}


def code_facts(translator: Any) -> Code:
    """Return the facts of the code object that a frame traces."""
    traced = translators.code_of(translator)
    key = id(traced)
    code = _codes.get(key)
    if code is None or not code.is_of(traced):
        if len(_codes) >= _KNOWN_CODES:
            _codes.clear()
        code = _codes[key] = Code(translator)
    return code


class RecordedFrame:
    """An active frame. It refers to Dynamo's variables, and so to the program's values: it must be in no cycle."""

    __slots__ = (
        "code",
        "containers",
        "line",
        "line_began",
        "noted",
        "number",
        "parameters",
        "pending",
        "times",
        "traced",
        "trail_call",
        "translator",
        "unread",
        "user_caller",
    )

    def __init__(self, translator: Any, code: Code, times: dict[int, list[float]]) -> None:
        self.translator = translator
        self.code = code
        self.noted: dict[str, Any] = {}
        """The variable of each name whose value the trail has."""
        self.trail_call = self.number = 0
        """Its call and its line in the trail."""
        self.times = times
        self.traced = 0
        """Its number in the profile."""
        self.line = translators.line_of(translator)
        self.line_began = 0.0
        """When Dynamo began the line, by its thread's clock."""
        self.user_caller: RecordedFrame | None = None
        """The innermost of its callers that is in the user's own code."""
        self.parameters: list[tuple[str, Any]] = []
        self.pending: list[tuple[int, str, Any]] = []
        """Assigned but not yet realized by Dynamo: (line, name, variable)."""
        self.unread: list[tuple[int, str, Any, int]] = []
        """Values that Dynamo has not read yet, and the trail does not have: line, name, variable, time in the trail."""
        self.containers: dict[str, tuple[Any, object]] = {}
        """Each list, dict … that the trail has, as it was then: it may be changed in place."""

    @property
    def in_user_code(self) -> RecordedFrame | None:
        """Return the innermost frame, from this one outwards, that is in the user's own code."""
        return self if self.code.is_user_code else self.user_caller
