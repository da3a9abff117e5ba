"""Report the events of compiles: begin, attempts, backend, phases, end, why there is another, and the limits."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import _guards

from dynascope.agent.events import torch_names
from dynascope.agent.events.convert_frame import hear_collection
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.compile.exceptions import raises

_REASON = re.compile(r"[!\d/]+: ", re.ASCII)
Recompiles = Callable[[list[str], Any], object]
"""Called with a reason per code that cannot be used, and Dynamo's view of the frame."""


class RecompileEvents(Events):
    """Call `recompiles` before the trace of a frame that has been compiled before.

    `refused` is called instead where `config.error_on_recompile` (2.0) makes it an error.
    """

    def __init__(
        self, recompiles: Recompiles, failures: HookFailures, refused: Recompiles = lambda reasons, frame: None
    ) -> None:
        super().__init__(failures)

        def begins(cache_entries: Any, frame: Any, *args: Any, skip_logging: bool = False, **kwargs: Any) -> Any:
            return None if skip_logging else frame

        def ends(frame: Any, reasons: Any, error: BaseException | None) -> None:
            if frame is None:
                return
            if error is None:
                recompiles(list(reasons), frame)
            elif type(error).__name__ == "RecompileError":
                refused(_reasons_in(str(error)), frame)

        self.call_around(torch_names.RECOMPILATION_REASONS, begins, ends)


def _reasons_in(message: str) -> list[str]:
    lines = [each.removeprefix("    - ") for each in message.splitlines() if each.startswith("    - ")]
    begins = [at for at, line in enumerate(lines) if _REASON.match(line)]
    return ["\n".join(lines[at:end]) for at, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


class RecompileLimitEvents(Events):
    """Call `exceeded` if Dynamo has reached a limit, else `may_compile`: after the reasons, before the trace."""

    def __init__(
        self, exceeded: Callable[[str, int], None], may_compile: Callable[[], object], failures: HookFailures
    ) -> None:
        """Call `exceeded` with the setting's name in `torch._dynamo.config`, and its value."""
        super().__init__(failures)

        def asked(result: Any, *args: Any, **kwargs: Any) -> None:
            if result[0]:
                exceeded(str(result[1]), getattr(sys.modules["torch._dynamo.config"], result[1]))
            else:
                may_compile()

        self.call_after(torch_names.EXCEEDS_RECOMPILE_LIMIT, asked)


@dataclass(slots=True)
class Ending:
    """The result of a compile: one of `compiled`, `skip_reason` and `error` is set.

    If Dynamo gave it up without a reason, none of them is.
    """

    compiled: bool = False
    skip_reason: str | None = None
    error: BaseException | None = None
    is_raised: bool = False
    """Whether the program gets the error, unless `config.suppress_errors` is set: else the frame runs uncompiled."""
    code: types.CodeType | None = None
    """The code that Dynamo generated for the frame."""
    guards: Any = None
    """The `GuardManagerWrapper` under which that code is used."""
    is_capture: bool = False
    """Whether it was for the graph alone, in a strict export or an `aot_compile`: no call checks its guards."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The locals of the frame when it was called."""


class Observer(Protocol):
    """Receive the events, all on the compiling thread."""

    def compile_begins(self, code: types.CodeType, compile_id: str, arguments: dict[str, Any]) -> Any: ...

    def attempt_begins(self) -> None: ...

    def recompiles(self, reasons: list[str], frame: Any) -> None: ...

    def backend_begins(self, output: Any, graph_module: Any) -> None: ...

    def backend_ends(self) -> None: ...

    def rank_wait_begins(self) -> None: ...

    def rank_wait_ends(self) -> None: ...

    def guards_built(self, output: Any, kept: list[Any]) -> None:
        """Receive the guards of an `OutputGraph` that are kept.

        A `guard_filter_fn` may have dropped some.
        """

    def trace_ends(self) -> None:
        """Receive that torch is about to collect what the trace has left."""

    def compile_ends(self, token: Any, ending: Ending) -> None: ...

    def frame_skipped(self, code: types.CodeType, reason: str) -> None: ...


class CompileEvents(RecompileEvents):
    """Report the events of each compile to an observer."""

    def __init__(self, observer: Observer, failures: HookFailures) -> None:
        super().__init__(observer.recompiles, failures, observer.recompiles)
        self._observer = observer
        self.call_around(torch_names.COMPILE, self._compile_begins, self._compile_ends)
        self.call_around(torch_names.CAPTURE_FRAME, self._capture_begins, self._capture_ends)
        self.call_after(torch_names.CALL_OF_CALLBACK, self._callback_returns)
        self.call_around(
            torch_names.CALL_USER_COMPILER,
            lambda output, gm, *args, **kwargs: observer.backend_begins(output, gm),
            lambda *ending: observer.backend_ends(),
        )
        self.call_around(
            torch_names.RUN_COMPILER_COLLECTIVE,
            lambda *args, **kwargs: observer.rank_wait_begins(),
            lambda *ending: observer.rank_wait_ends(),
        )
        hear_collection(self, observer.trace_ends)
        self.call_before(torch_names.TRACE_FRAME, lambda *args, **kwargs: observer.attempt_begins())
        self._kept: list[Any] = []
        self.call_before(torch_names.BUILD_GUARDS_OF, self._guards_are_built)
        self.call_after(torch_names.BUILD_GUARDS, self._guards_built)

    def _guards_are_built(self, manager: Any, sorted_guards: list[Any], *args: Any, **kwargs: Any) -> None:
        """Note the guards; with a filter torch builds all, then those that are kept."""
        self._kept = list(sorted_guards)

    def _guards_built(self, _: None, manager: Any, f_code: Any, output: Any, *args: Any, **kwargs: Any) -> None:
        kept, self._kept = self._kept, []
        self._observer.guards_built(output, kept)

    def _compile_begins(self, code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        arguments, is_full_graph = args[1] if len(args) > 1 else {}, len(args) > 5 and bool(args[5])
        token = self._observer.compile_begins(code, str(kwargs.get("compile_id")), arguments)
        return token, arguments, is_full_graph, kwargs.get("convert_frame_box")

    def _compile_ends(self, begun: Any, result: Any, error: BaseException | None) -> None:
        token, arguments, is_full_graph, box = begun
        if error is not None:
            self._kept = []  # building the guards may have failed
            ending = Ending(error=error, is_raised=is_full_graph or raises(error, box))
        else:
            made, skipped = getattr(result, "guarded_code", None), getattr(result, "skip_reason", None)
            code_made, guards = getattr(made, "code", None), getattr(made, "guard_manager", None)
            ending = Ending(made is not None, skipped, code=code_made, guards=guards, arguments=arguments)
        self._observer.compile_ends(token, ending)

    def _capture_begins(self, frame: Any, *args: Any, **kwargs: Any) -> Any:
        """Report a strict export or an `aot_compile`, which do not use `_compile`."""
        return self._observer.compile_begins(frame.code, compile_id_and_attempt()[0], frame.locals)

    def _capture_ends(self, token: Any, result: Any, error: BaseException | None) -> None:
        is_compiled = error is None
        self._observer.compile_ends(token, Ending(is_compiled, error=error, is_raised=not is_compiled, is_capture=True))

    def _callback_returns(self, result: Any, callback: Any, frame: Any, cache_entry: Any, frame_state: Any) -> None:
        reason = getattr(result, "skip_reason", None)
        if reason:
            self._observer.frame_skipped(frame.f_code, reason)


class PhaseEvents(Events):
    """Call `begins` and `ends` for each phase: what `torch._dynamo.utils.dynamo_timed` (2.0) times, on its thread."""

    def __init__(
        self, begins: Callable[[str, str | None], None], ends: Callable[[str], None], failures: HookFailures
    ) -> None:
        """Call both with a phase's name, `begins` also with the compile's id if torch knows it."""
        super().__init__(failures)
        self._begins = begins
        self.call_before(torch_names.LOG_EVENT_START, self._start)
        self.call_after(torch_names.LOG_EVENT_END, lambda _, logger, event_name, *args, **kwargs: ends(event_name))

    def _start(self, logger: Any, event_name: str, *args: Any, compile_id: Any = None, **kwargs: Any) -> None:
        given = compile_id or (args[3] if len(args) > 3 else None) or _guards.CompileContext.current_compile_id()
        self._begins(event_name, str(given) if given is not None else None)
