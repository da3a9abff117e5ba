"""Record the guards that will fail later: the call itself, another module or another function shows it."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from dynascope.agent.internals.guards.varying import FIRST_OF_ALL, Neighbours, VaryingGuards
from dynascope.agent.program.user_code import is_user_code, path_of_file
from dynascope.facts.model import CompileFacts, VaryingGuard


class PinnedGlobals:
    """The constants that the newest compile of each function has read from the program's globals."""

    def __init__(self) -> None:
        self._by_function: dict[tuple[str | None, str], list[VaryingGuard]] = {}
        """By the module whose globals they are, and the function's name: a notebook defines a function anew."""
        self.neighbours = Neighbours()

    def changed(self, guards: VaryingGuards, compile_id: str, function: str) -> list[VaryingGuard]:
        """Return the guards of other functions on globals that have another value now."""
        if compile_id == FIRST_OF_ALL:  # torch._dynamo.reset() has dropped all code
            self._by_function.clear()
            self.neighbours = Neighbours()
        of_others = (
            each
            for (module, name), pinned in self._by_function.items()
            if module == guards.module and name != function
            for each in pinned
        )
        now = ((each, guards.now(each.expression)) for each in of_others)
        return [structs.replace(each, others=[value]) for each, value in now if value not in (None, each.value)]

    def pinned(self, module: str | None, function: str, guards: list[VaryingGuard]) -> None:
        """Remember what the code that was made pins."""
        self._by_function[module, function] = guards


class VaryingRecording:
    """The guards of one compile that will fail later."""

    def __init__(self, compile_id: str, function: str) -> None:
        self._compile_id = compile_id
        self._function = function
        self._of_this: list[VaryingGuard] = []
        self._of_others: list[VaryingGuard] = []
        self._module: str | None = None
        self._globals: list[VaryingGuard] = []

    def graph_ends(self, output: Any, known: PinnedGlobals) -> None:
        """Look for them where a graph has ended, before Dynamo drops the trace."""
        guards = VaryingGuards(output, path_of_file, is_user_code)
        self._of_this = [*guards.set_by_the_call(), *guards.marked()]
        self._of_others = known.changed(guards, self._compile_id, self._function)
        self._of_this += guards.different_beside(self._compile_id, known.neighbours)
        self._module, self._globals = guards.module, list(guards.globals())

    def facts(self, facts: CompileFacts, known: PinnedGlobals) -> list[VaryingGuard]:
        """Return them, once the compile has ended."""
        compile = facts.compile
        if compile.status != "compiled":
            return []
        places = {origin: (each.path, each.line) for each in facts.specializations for origin in each.origins}
        for each in (*self._of_this, *self._globals):
            each.guard_of, each.function = self._compile_id, self._function
            needed_by = (each.path, each.line) if each.path else (compile.path, compile.line)
            each.path, each.line = places.get(each.expression, needed_by)
        for each in self._of_others:
            each.seen_in = f"{self._function} [{self._compile_id}]"
        known.pinned(self._module, self._function, self._globals)
        # what follows a graph break may set back what the call has set
        stays = (each for each in self._of_this if each.kind != "set" or not facts.graph_breaks)
        return [*stays, *self._of_others]
