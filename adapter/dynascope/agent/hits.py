"""Which breakpoints a line hits: conditions, counts, and logpoints, which write instead of stopping."""

from __future__ import annotations

from collections.abc import Callable

from dynascope.agent import evaluation
from dynascope.agent.activation import Activation
from dynascope.agent.breakpoints import Breakpoint, Table
from dynascope.agent.internals.tracing import Translator
from dynascope.wire.messages import Message, Output


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
        return [each for each in candidates if self._stops(each, activation, line)]

    def _stops(self, breakpoint: Breakpoint, activation: Activation, line: int) -> bool:
        if not self._holds(breakpoint, activation, line) or not breakpoint.counts():
            return False
        if breakpoint.log_message is None:
            return True
        text = _log_text(breakpoint.log_message, activation.translator)
        self._send(Output(category="console", output=text + "\n", path=activation.code.co_filename, line=line))
        return False

    def _holds(self, breakpoint: Breakpoint, activation: Activation, line: int) -> bool:
        """Whether the condition does; one that cannot be known while tracing does, and says so."""
        if breakpoint.condition is None:
            return True
        try:
            return evaluation.condition_holds(breakpoint.condition, activation.translator)
        except evaluation.EvaluationError as error:
            text = f"The condition {breakpoint.condition!r} has no answer at compile time: stopping. {error}\n"
            self._send(Output(category="important", output=text, path=activation.code.co_filename, line=line))
            return True


def _log_text(template: str, translator: Translator) -> str:
    try:
        return evaluation.format_log_message(template, translator)
    except evaluation.EvaluationError as error:
        return f"{template}: {error}"
