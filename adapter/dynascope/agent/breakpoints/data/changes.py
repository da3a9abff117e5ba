"""Values compared from one instruction to the next: what a data breakpoint calls a change.

A tensor changes when its dtype, fake shape or device does, and an attribute or element also when it is set to another
tensor like it; a number or a constant when its value does; a container or an object when the name refers to another
one (what happens inside it is a mutation, which `watchpoint_stops` receives). A name that gets its first value in a
call of its function does not change, nor does a value that Dynamo realizes.
"""

from __future__ import annotations

from dataclasses import dataclass

from dynascope.agent.breakpoints.data.watched_value import Subject
from dynascope.agent.internals.variables.contents import Entries, Items, Members, Object, Real, Tensor
from dynascope.agent.internals.variables.variables import source_of


@dataclass(slots=True)
class Seen:
    """A value at an instruction: the same while `identity` is equal; `text` is for the user."""

    identity: object
    text: str
    sources: frozenset[str]
    is_unwrapped: bool
    line: int

    @classmethod
    def of(cls, subject: Subject, line: int) -> Seen:
        content = subject.content
        if isinstance(content, (Items, Entries, Members, Object)) and subject.variable is not None:
            identity: object = source_of(subject.variable) or id(subject.variable)
        elif isinstance(content, Tensor) and subject.is_part:
            identity = subject.row.value, getattr(content.node, "name", None)
        elif isinstance(content, Real):
            identity = id(content.value)
        else:
            identity = subject.row.value
        return cls(identity, subject.row.value, subject.sources, subject.is_unwrapped, line)

    def changes_into(self, now: Seen) -> bool:
        if self.identity == now.identity:
            return False
        return self.is_unwrapped == now.is_unwrapped or self.sources.isdisjoint(now.sources)
