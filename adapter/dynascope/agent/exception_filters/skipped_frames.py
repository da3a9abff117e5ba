"""`skippedFrame`: a function that Dynamo gives up on: it will run uncompiled, now and whenever it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dynascope.agent.exception_filters.compiler_event import Fault, stack_text
from dynascope.agent.internals.compile import unsupported
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.facts import break_message
from dynascope.wire.exceptions import ExceptionDetails, ExceptionInfo

_NO_REASON = "Dynamo gives no reason."


class SkippedFrames:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._leaves = unsupported.LeavingEvents(self._leaving)
        hook.on_skipped = self._skipped

    def remove(self) -> None:
        self._hook.on_skipped = None
        self._leaves.remove()

    def _leaving(self, error: BaseException) -> None:
        """The outermost frame is about to be left for an error, because of which it is skipped."""
        if unsupported.skips_frame(error) or unsupported.was_taken(error):
            self._hook.amid(lambda state, stack: self._tell(state, unsupported.message_of(error), stack, error=error))

    def _skipped(self, state: ThreadTracing, frame: Any, reason: str) -> None:
        """Dynamo has answered for a frame that it did not trace."""
        path = real_path(original_code(frame.f_code).co_filename)
        if is_user_code(path) and not is_our_code(path):
            self._tell(state, reason, frame=frame)

    def _tell(
        self,
        state: ThreadTracing,
        reason: str,
        stack: Sequence[Translator] = (),
        frame: Any = None,
        error: BaseException | None = None,
    ) -> None:
        code = original_code(frame.f_code if frame is not None else tracing.code_of(stack[0]))
        first = break_message.parse_all(reason)
        title = f"Dynamo skips {code.co_name}: it runs uncompiled."
        why = "\n\n".join(map(break_message.prose, first)) if reason else _NO_REASON
        told = ExceptionDetails(
            message=reason or _NO_REASON,
            type_name="skipped frame",
            full_type_name="skipped frame",
            stack_trace=stack_text(stack),
        )
        info = ExceptionInfo(
            exception_id="skipped frame", break_mode="always", description=f"{title}\n{why}", details=told
        )
        ids = frozenset(each.registry_id for each in first if each.registry_id is not None)
        self._report(state, Fault(info=info, title=title, stack=list(stack), entry=frame, ids=ids, error=error))
