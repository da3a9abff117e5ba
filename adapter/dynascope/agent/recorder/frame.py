"""Keep what the recording knows of a frame while Dynamo traces it."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.frames import translators
from dynascope.agent.tape.code import Code
from dynascope.agent.tape.tape import Segment


class RecordedFrame:
    """An active frame. It refers to Dynamo's variables, and so to the program's values: it must be in no cycle."""

    def __init__(self, translator: Any, code: Code, times: dict[int, list[float]]) -> None:
        self.translator = translator
        self.code = code
        self.noted: dict[str, Any] = {}
        """The variable of each name whose value the tape has."""
        self.segment: Segment = 0
        """The segment in which its line began."""
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
        self.unread: list[tuple[Segment, str, Any, Segment]] = []
        """Values that Dynamo has not read yet, and the tape does not have: its line's segment, name, variable, when."""
        self.containers: dict[str, tuple[Any, object]] = {}
        """Each list, dict … that the tape has, as it was then: it may be changed in place."""

    @property
    def in_user_code(self) -> RecordedFrame | None:
        """Return the innermost frame, from this one outwards, that is in the user's own code."""
        return self if self.code.is_user_code else self.user_caller
