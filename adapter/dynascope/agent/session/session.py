"""One debug session in the agent, which request handlers use."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dynascope.agent.backward.backward_breakpoints import BackwardBreakpoints
from dynascope.agent.breakpoints.data.data_breakpoints import DataBreakpoints
from dynascope.agent.breakpoints.kinds.code_breakpoints import CodeBreakpoints
from dynascope.agent.breakpoints.kinds.debugpy_breakpoints import GeneratedBreakpoints, RunBreakpoints
from dynascope.agent.breakpoints.kinds.function_breakpoints import FunctionBreakpoints, NodeBreakpoints
from dynascope.agent.breakpoints.kinds.instruction_breakpoints import InstructionBreakpoints
from dynascope.agent.breakpoints.kinds.line_breakpoints import LineBreakpoints
from dynascope.agent.breakpoints.registry import BreakpointKinds, CalledFunctions, ComptimeBreakpoints
from dynascope.agent.events import wrapping
from dynascope.agent.events.declared_names import STOPS
from dynascope.agent.exception_filters.exception_filters import ExceptionFilters
from dynascope.agent.inspection.disassembly import Listings
from dynascope.agent.isolation.unseen import never_trace
from dynascope.agent.program import collector, observed
from dynascope.agent.ranks.raised_timeouts import RaisedTimeouts, all_ranks_are_here
from dynascope.agent.recorder import process
from dynascope.agent.session.loaded_sources import LoadedSourceDocuments
from dynascope.agent.session.timeline import TimelineEvents
from dynascope.agent.suspension.interface import Suspension, SuspensionObserver
from dynascope.agent.suspension.stops import CompileStops
from dynascope.wire.from_agent import ConsoleOutput, DynamoReady, RankJoined
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import Configure

if TYPE_CHECKING:
    from dynascope.agent.session.timeline_observer import TimelineObserver
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.time_travel.effects import Effects


class AgentSession(SuspensionObserver):
    """Own all breakpoints, the stops, and the hook once torch._dynamo is imported."""

    def __init__(self, send: Callable[[Message], None], suspension: Suspension) -> None:
        """Send messages with `send`, from any thread. Nothing is hooked before `hook_dynamo`."""
        self.send = send
        self.suspension = suspension
        self.configured = threading.Event()
        """Set by `ConfigurationDone`, and at the end of the session, to let the program start."""
        self.timeline = TimelineEvents()
        self._timeline_observer: TimelineObserver | None = None
        self.stops = CompileStops(send, suspension)
        self.hook: Hook | None = None
        self._effects: Effects | None = None
        self.loaded_sources = LoadedSourceDocuments(self.stops, send)
        self._settings = Configure(id=0)
        self._end_recording: Callable[[], None] = lambda: None
        self._raised_timeouts = RaisedTimeouts(self._say, lambda rank: send(RankJoined(rank)))

        breakpoints = self.breakpoints = BreakpointKinds(send)
        changed = breakpoints.changed
        self.lines = LineBreakpoints(suspension, breakpoints.traced, send, changed)
        self.backward = BackwardBreakpoints(self.stops, suspension, send)
        nodes = NodeBreakpoints(send)
        named = [self.backward, nodes]
        self.functions = FunctionBreakpoints(suspension, breakpoints.traced, named, send, changed)
        self.listings = Listings()
        self.instructions = InstructionBreakpoints(self.listings, send)
        self.data = DataBreakpoints(send, breakpoints.traced)
        self.generated_code = CodeBreakpoints(self.loaded_sources.documents, self.stops, suspension, send, changed)
        self.exception_filters = ExceptionFilters(send)
        self.comptime = ComptimeBreakpoints()
        breakpoints.add_kinds(
            [
                self.comptime,
                self.data,
                self.lines,
                self.functions,
                self.instructions,
                nodes,
                RunBreakpoints(suspension, breakpoints.roots),
                GeneratedBreakpoints(suspension, breakpoints.roots, changed),
                self.generated_code,
                CalledFunctions(suspension),
                self.exception_filters,
                self.backward,
            ]
        )

    def configure(self, settings: Configure) -> None:
        """Apply the settings of the session."""
        self._settings = settings
        if settings.attached:
            observed.note_attached()
        self.lines.compiler_is_debugged = settings.debug_dynamo
        self._configure_hook()
        self.suspension.configure(settings)
        self.stops.start_ids_at(settings.first_id)
        if settings.record:
            self._end_recording = process.begin_beside_a_debugger(
                self._say, settings.record if isinstance(settings.record, str) else ""
            )
        if settings.raise_timeouts or (settings.raise_timeouts is None and all_ranks_are_here()):
            self._raised_timeouts.install()
        self.backward.configure(settings)

    def _say(self, text: str) -> None:
        self.send(ConsoleOutput(category="console", output=f"dynascope: {text}\n"))

    def _configure_hook(self) -> None:
        if self.hook is not None:
            self.hook.histories.are_recorded = self._settings.history
            # debugpy stops at the program's first line by itself
            self.hook.set_stop_on_entry(self._settings.stop_on_entry and self.suspension.kind == "own loop")

    def hook_dynamo(self) -> None:
        """Hook Dynamo, and tell the adapter which names this torch lacks."""
        collector.hook_begins()
        try:
            self._hook_dynamo()
        finally:
            collector.hook_ends()

    def _hook_dynamo(self) -> None:
        try:
            from dynascope.agent.session.compile_observer import CompileObserver
            from dynascope.agent.session.timeline_observer import TimelineObserver
            from dynascope.agent.tracing.hook import Hook  # imports torch: not before the program has
            from dynascope.agent.tracing.time_travel.effects import Effects

            missing = wrapping.missing_names(STOPS)
            if not missing:
                never_trace(self.suspension.folders_to_skip())
                hook = self.hook = Hook(self.suspension, self.stops, self.listings, self.send)
                self.loaded_sources.attach(hook)
                hook.compiles.observe(CompileObserver(hook, self.breakpoints, self.tell_ready))
                self._configure_hook()
                self._effects = Effects(hook)
                self._timeline_observer = TimelineObserver(hook, self.timeline)
                self.stops.tell_timeline = self._timeline_observer.stops
                self.breakpoints.attach(hook)
                for text in wrapping.warnings():
                    self.notice(f"dynascope: {text}\n")
        except Exception as error:
            missing = [f"{type(error).__name__}: {error}"]
        self.tell_ready(missing)
        if self.suspension.kind == "pydevd" and observed.takes_the_trace_function():
            self.notice(observed.NOTICE)

    def tell_ready(self, missing: list[str]) -> None:
        """Tell the adapter that torch._dynamo is imported, and which names this torch lacks."""
        version = str(getattr(sys.modules.get("torch"), "__version__", "unknown"))
        self.send(DynamoReady(torch_version=version, missing=missing))

    def unhook(self) -> None:
        """Remove every hook from Dynamo."""
        self.breakpoints.detach()
        self._raised_timeouts.remove()
        hook, self.hook = self.hook, None
        if self._timeline_observer is not None:
            self._timeline_observer.remove()
        if self._effects is not None:
            self._effects.remove()
        self.loaded_sources.detach()
        if hook is not None:
            hook.remove()

    def end(self) -> None:
        """Resume stopped threads; the program continues without a debugger."""
        self._end_recording()
        self.stops.cancellation.cancel_all()
        self.stops.release()
        self.suspension.close()
        self.configured.set()
        self._raised_timeouts.restore()

    def pause_compiles(self) -> None:
        """Stop compiling threads at the next instruction if their suspension wants it. Any thread."""
        if self.hook is not None:
            self.hook.callbacks.pause_compiles()

    # ---- the suspension's observer

    def suspend_requested(self) -> None:
        self.pause_compiles()

    def stopped_at_runtime(self) -> None:
        self.stops.time_limits.tell()
        if self.hook is not None:
            self.hook.step_ended_at_runtime()
        self.generated_code.step_ended_at_runtime()

    def notice(self, text: str) -> None:
        self.send(ConsoleOutput(category="important", output=text))

    def comptime_breakpoint(self, context: Any) -> None:
        """Stop at `dynascope.breakpoint()` in compiled code, given Dynamo's `ComptimeContext`."""
        self.comptime.reached(context)


_current: AgentSession | None = None


def current_session() -> AgentSession | None:
    """Return the current session of this process, or None."""
    return _current


def set_current(session: AgentSession | None) -> None:
    """Set the current session of this process."""
    global _current
    _current = session
