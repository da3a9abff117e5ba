"""Read the profiles of a launch."""

from __future__ import annotations

from msgspec import Struct

from dynascope.explain.compiles import LATER, title
from dynascope.facts import model
from dynascope.facts.process_names import compile_names
from dynascope.facts.profile.model import Profile
from dynascope.facts.profile.tree import Node, seconds_of, tree
from dynascope.facts.reader import Reader


class Measured(Struct):
    """Where the time of one compile went, in seconds."""

    compile: model.Compile
    name: str
    """`step [0/0]`."""
    profiles: list[Profile]
    """Its own, then those of what was compiled later."""
    tracing: float
    """Dynamo's time for the lines of functions."""
    guards: float
    later: float
    """The time of what torch compiled for it after it had ended; not part of its own time."""
    roots: list[Node]
    """Its tree, then the trees of what was compiled later."""

    @property
    def other(self) -> float:
        """Return the compile's time that is not for lines, the backend or guards."""
        known = self.tracing + self.compile.backend_seconds + self.guards + self.compile.rank_wait_seconds
        return max(0.0, self.compile.seconds - known)


def measured(reader: Reader, launch: str) -> list[Measured]:
    """Return the compiles that have a profile, the longest first."""
    compiles = reader.compiles(launch)
    names = compile_names(compiles, [run for run in reader.runs() if run.launch == launch])
    found = []
    for each in compiles:
        profiles = reader.profiles(each.id)
        if not profiles:
            continue
        own, later = profiles[0], profiles[1:]
        root = Node(title(each, names[each.id]), each.seconds, 1, children=tree(own))
        roots = [root, *(Node(f"{root.name} {LATER}", 0.0, 1, children=tree(profile)) for profile in later)]
        for after in roots[1:]:
            after.seconds = sum(child.seconds for child in after.children)
        found.append(
            Measured(
                compile=each,
                name=root.name,
                profiles=profiles,
                tracing=sum(function.seconds for function in own.functions),
                guards=seconds_of(own.phases, "build_guards"),
                later=sum(after.seconds for after in roots[1:]),
                roots=roots,
            )
        )
    return sorted(found, key=lambda each: each.compile.seconds + each.later, reverse=True)
