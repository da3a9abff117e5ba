"""The functions whose compiled code was loaded, which explains breakpoints that were never hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.program.user_code import real_path

if TYPE_CHECKING:
    from dynascope.agent.events.loaded_code import Lines, LoadEvents
    from dynascope.agent.tracing.hook import Hook


class LoadedCode:
    """Record what the program loads, on its threads."""

    def __init__(self) -> None:
        self._functions: list[tuple[str, Lines]] = []
        self._others: dict[str, None] = {}
        """Descriptions of loaded code that does not say which functions are in it."""
        self._events: list[LoadEvents] = []

    def attach(self, hook: Hook) -> None:
        """Watch torch's functions that load code. torch._dynamo is imported."""
        from dynascope.agent.events.loaded_code import load_events

        self._events = load_events(self._loaded, hook.failures)

    def detach(self) -> None:
        """Watch them no longer. Any thread."""
        for events in self._events:
            events.remove()
        self._events = []

    def _loaded(self, what: str, functions: list[Lines]) -> None:
        if functions:
            self._functions += [(what, (real_path(path), first, last)) for path, first, last in functions]
        else:
            self._others[what] = None

    def why_not_traced(self, path: str, line: int) -> str | None:
        """Return why a line's function was not traced: it was loaded compiled; None if it was not."""
        for what, (file, first, last) in self._functions:
            if file == path and first <= line <= last:
                return f"Its function was compiled before, and loaded as {what}, so Dynamo did not trace it."
        return None

    def hint(self) -> str:
        """Return a sentence about loaded code in which any function may be; "" without such."""
        if not self._others:
            return ""
        return f" The program loaded {' and '.join(self._others)}: no line of such code can stop."
