"""The observer of compiles that loaded sources install."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence

from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver


class SourceObserver(TraceObserver):
    """Call two functions for code traced and code generated. Called on compiling threads."""

    def __init__(
        self,
        compile_ended: Callable[[Sequence[types.CodeType]], None],
        code_generated: Callable[[types.CodeType, types.CodeType, str], None],
    ) -> None:
        self._compile_ended = compile_ended
        self._code_generated = code_generated

    def compile_ended(self, outcome: CompileOutcome) -> None:
        self._compile_ended(outcome.traced)

    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        self._code_generated(code, generated, compile_id)
