"""Know the functions of traced frames: their names and places, and what each of their lines assigns."""

from __future__ import annotations

import linecache
import types
import weakref
from typing import Any

from dynascope.agent.internals.compile.call import stands_for_builtin
from dynascope.agent.internals.frames import resume as line_events
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.frame_state import own_names
from dynascope.agent.internals.frames.resume import frame_name, original_code
from dynascope.agent.program.source_lines import lines_with_code, own_lines
from dynascope.agent.program.user_code import has_file, is_user_code, path_of


class Code:
    """Facts about a code object, the same each time it is traced; they do not keep the code object alive."""

    def __init__(self, translator: Any) -> None:
        code = translators.code_of(translator)
        self._of = weakref.ref(code)
        original = original_code(code)
        self.name, self.function = frame_name(original), original.co_qualname
        self.file = original.co_filename
        self.path = path_of(code)
        self.has_file = has_file(self.path)
        self.is_user_code = self.has_file and is_user_code(self.path)
        self.first_line = original.co_firstlineno
        self.resumes_at = code.co_firstlineno
        """The line of the graph break after which it goes on, or the first."""
        # a resume function's prologue restores locals on lines that assign others
        self.stored = (
            line_events.names_stored(translator) if original is code else line_events.names_stored_by(original)
        )
        self.parameters = line_events.parameter_names(translator) if original is code else ()
        self.names = own_names(original)
        """The names of its local variables, without those that Dynamo adds."""
        self.free = code.co_freevars
        """The names that belong to enclosing functions."""
        self.stands_for_builtin = stands_for_builtin(original) or _has_no_source(original)
        """Whether Dynamo traces it where the source has no call of it."""

    def is_of(self, code: types.CodeType) -> bool:
        """Whether this is known of that code object.

        Another may have got the identity of one that is gone.
        """
        return self._of() is code


_KNOWN_CODES = 20_000
_codes: dict[int, Code] = {}


def code_facts(translator: Any) -> Code:
    """Return what is known of the code object that a frame traces."""
    traced = translators.code_of(translator)
    key = id(traced)
    code = _codes.get(key)
    if code is None or not code.is_of(traced):
        if len(_codes) >= _KNOWN_CODES:
            _codes.clear()
        code = _codes[key] = Code(translator)
    return code


def _has_no_source(code: types.CodeType) -> bool:
    """Whether Python generated the code, such as that of a named tuple.

    A program given with `-c` may have the same file name, and on Python 3.13 its text.
    """
    name = code.co_filename
    if not name.startswith("<") or name not in linecache.cache:
        return name.startswith("<")
    known = lines_with_code(name)
    return known is not None and not any(
        code == each for line in own_lines(code) for each in known.code_at.get(line, ())
    )
