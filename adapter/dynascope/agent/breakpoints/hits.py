"""Which breakpoints a line hits: conditions, counts, and logpoints, which write instead of stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dynascope.agent.breakpoints import conditions as evaluation
from dynascope.agent.breakpoints.breakpoint import Breakpoint, Table
from dynascope.agent.internals.frames.translators import Translator, code_of, line_of
from dynascope.agent.tracing.activation import Activation
from dynascope.wire.from_agent import Output
from dynascope.wire.messages import Message


class Hits:
    """Asked on the compiling thread, once for each time that control reaches a line."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        """`send` takes what logpoints write, and why a condition has no answer."""
        self._send = send

    def at(self, table: Table, activation: Activation, line: int, enters_function: bool) -> list[Breakpoint]:
        """Those that stop; `enters_function`: it is the first line of a call, where function breakpoints are."""
        candidates = list(table.at(activation.code, line))
        if enters_function:
            candidates += table.of_function(activation.code)
        return [each for each in candidates if self._stops(each, activation.translator, line)]

    def amid(
        self, candidates: Iterable[Breakpoint], translator: Translator, given: evaluation.Given | None = None
    ) -> list[Breakpoint]:
        """Those that stop at something that happens amid a line of this frame; `given` are names it adds."""
        line = line_of(translator)
        return [each for each in candidates if self._stops(each, translator, line, given)]

    def _stops(
        self, breakpoint: Breakpoint, translator: Translator, line: int, given: evaluation.Given | None = None
    ) -> bool:
        breakpoint.reached += 1
        if not self._holds(breakpoint, translator, line, given) or not breakpoint.counts():
            return False
        if breakpoint.log_message is None:
            return True
        text = _log_text(breakpoint.log_message, translator)
        path = code_of(translator).co_filename
        self._send(Output(category="console", output=text + "\n", path=path, line=line))
        return False

    def _holds(self, breakpoint: Breakpoint, translator: Translator, line: int, given: evaluation.Given | None) -> bool:
        """Whether the condition does; one that cannot be known while tracing does, and says so."""
        if breakpoint.condition is None:
            return True
        try:
            return evaluation.condition_holds(breakpoint.condition, translator, given)
        except evaluation.EvaluationError as error:
            text = f"The condition {breakpoint.condition!r} has no answer at compile time: stopping. {error}\n"
            path = code_of(translator).co_filename
            self._send(Output(category="important", output=text, path=path, line=line))
            return True


def _log_text(template: str, translator: Translator) -> str:
    try:
        return evaluation.format_log_message(template, translator)
    except evaluation.EvaluationError as error:
        return f"{template}: {error}"
