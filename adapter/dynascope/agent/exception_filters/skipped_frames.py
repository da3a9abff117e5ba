"""`skippedFrame`: stop where Dynamo skips a function, which then always runs uncompiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.events.graph_breaks import LeavingEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, event_info
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.internals.compile import exceptions
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.agent.tracing.stop_check import TraceObserver
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts import break_message

_NO_REASON = "Dynamo gives no reason."


class SkippedFrames(FilterSource, TraceObserver):
    """Stop at frames that Dynamo does not trace, as the hook reports, and at those it gives up."""

    def install(self) -> None:
        self.listen(LeavingEvents(self._leaving, self.hook.failures))
        self.hook.compiles.observe(self)

    def remove(self) -> None:
        self.hook.compiles.unobserve(self)
        super().remove()

    def _leaving(self, error: BaseException) -> None:
        """Stop as the outermost frame is left for an error because of which Dynamo skips it."""
        if exceptions.skips_frame(error) or exceptions.was_taken(error):
            message = exceptions.message_of(error)
            self.hook.during_instruction(lambda state, stack: self._skips(state, message, stack, error=error))

    def frame_skipped(self, state: ThreadState, frame: Any, reason: str) -> None:
        path = real_path(original_code(frame.f_code).co_filename)
        if is_user_code(path) and not is_our_code(path):
            self._skips(state, reason, frame=frame)

    def _skips(
        self,
        state: ThreadState,
        reason: str,
        stack: Sequence[Translator] = (),
        frame: Any = None,
        error: BaseException | None = None,
    ) -> None:
        code = original_code(frame.f_code if frame is not None else translators.code_of(stack[0]))
        messages = break_message.parse_all(reason)
        title = f"Dynamo skips {code.co_name}: it runs uncompiled."
        why = break_message.prose(messages) if reason else _NO_REASON
        info = event_info("skipped frame", f"{title}\n{why}", stack, message=reason or _NO_REASON)
        ids = frozenset(each.registry_id for each in messages if each.registry_id is not None)
        self.tell(
            state,
            CompilerEvent(info=info, title=title, stack=list(stack), skipped_frame=frame, ids=ids, error=error),
        )
