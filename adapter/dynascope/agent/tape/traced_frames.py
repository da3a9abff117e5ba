"""Keep what is known of each frame while its tape is written."""

from __future__ import annotations

import inspect
import linecache
import types

from dynascope.agent.internals.compile.call import stands_for_builtin
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.frame_state import own_names
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.source_lines import lines_with_code, own_lines
from dynascope.agent.tape.instructions import FrameId, Position
from dynascope.agent.tape.tape import Segment, Tape, TapedFunction, Value

_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class TapedFrame:
    """A frame being traced: the names it had when last seen, and the line that it is at."""

    def __init__(self, number: FrameId, translator: Translator, began: Position) -> None:
        self.number = number
        self.translator = translator
        self.line = translators.line_of(translator)
        self.began = began
        self.pauses = bool(translators.code_of(translator).co_flags & _PAUSES)
        """Whether Dynamo may resume it after it has left it."""
        self.names: dict[str, object] = {}
        self.values: dict[str, Value] = {}
        self.texts: dict[str, int] = {}
        """The text of each name."""
        self.unread: dict[str, object | None] = {}
        """The names whose text may change without a mutation event: of a lazy variable, with the cache that Dynamo
        fills when it reads it, of a container of some, with its `Reach`, and of an iterator, with None."""
        self.in_cells: dict[str, object | None] = {}
        """The variable in the cell of each name that has one."""

    def variable(self, name: str) -> object | None:
        """Return the variable of a name, or the one in its cell."""
        return self.in_cells.get(name, self.names[name])

    def rewrite(self, tape: Tape, segment: Segment, name: str, text: int) -> None:
        """Record that the text of a name is another now."""
        self.texts[name] = text
        tape.rewritten.add(segment, self.number, tape.texts.number(name), text)


class Functions:
    """Describe the functions of frames; many frames have the same."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[types.CodeType, TapedFunction]] = {}
        """Each code object and its function, by the code's `id`, because hashing a code object is slow."""

    def of(self, traced: types.CodeType) -> TapedFunction:
        """Return the function that this code is of, a resume function's too."""
        known = self._known.get(id(traced))
        if known is None:
            code = original_code(traced)
            line, names = traced.co_firstlineno, own_names(code)
            hidden = stands_for_builtin(code) or _has_no_source(code)
            function = TapedFunction(code.co_name, code.co_filename, line, names, traced.co_freevars, hidden)
            known = self._known[id(traced)] = traced, function
        return known[1]


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
