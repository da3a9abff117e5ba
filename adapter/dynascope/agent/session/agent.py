"""The agent: one per debugged process. Files what the adapter asks, and owns hook, stops and suspension."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dynascope.agent.backward.backward_breakpoints import BackwardHalf
from dynascope.agent.breakpoints.registry import AllBreakpoints
from dynascope.agent.documents.disassembly import BadAddress
from dynascope.agent.documents.documents import UnknownDocument
from dynascope.agent.exception_filters.exception_filters import ExceptionFilters
from dynascope.agent.internals import self_test
from dynascope.agent.internals.compile import trace_rules
from dynascope.agent.program.frames import program_threads
from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.program.source_lines import breakpoint_locations
from dynascope.agent.program.user_code import OUR_FOLDER
from dynascope.agent.recorder import process
from dynascope.agent.session.compile_status import compiles_now
from dynascope.agent.session.loaded_sources import Reading
from dynascope.agent.session.resume_requests import GoingOn, NotStopped, going_on
from dynascope.agent.stops.stops import Stops, answer
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import LoadedSourcesBody, ModulesBody
from dynascope.wire.from_agent import DynamoReady, Hello, Output
from dynascope.wire.messages import Message
from dynascope.wire.to_agent import (
    Acknowledge,
    Cancel,
    Compiles,
    CompilesBody,
    ConfigurationDone,
    Configure,
    Detach,
    Disassemble,
    Evaluate,
    FindBreakpointLocations,
    FindDataBreakpoint,
    FindStepInTargets,
    FormatStack,
    LoadedSources,
    Locations,
    Modules,
    Pause,
    Scopes,
    SetBreakpoints,
    SetDataBreakpoints,
    SetExceptionFilters,
    SetFunctionBreakpoints,
    SetInstructionBreakpoints,
    SourceText,
    Threads,
    ToAgent,
    Variables,
)

if TYPE_CHECKING:
    from dynascope.agent.breakpoints.kinds.comptime_stops import ComptimeStops
    from dynascope.agent.tracing.hook import Hook

_DYNAMO = "torch._dynamo"


class Agent:
    """`receive` is called on the channel's thread; what is Dynamo's happens on compiling threads (`hook`, `stop`)."""

    def __init__(self, send: Callable[[Message], None], suspension: Suspension) -> None:
        """`send` takes any message to the adapter, from any thread. Nothing is hooked before `install`."""
        self.suspension = suspension
        self.configured = threading.Event()
        """Set by `ConfigurationDone`, and when the session is over: whoever holds the program may let it go."""
        self._send = send
        self.stops = Stops(send, suspension)
        self.hook: Hook | None = None
        self._comptime: ComptimeStops | None = None
        self.reading = Reading(self.stops, send)
        self._backward = BackwardHalf(self.stops.hold_inspection, suspension, send, self._step_into_next_compile)
        self._exception_filters = ExceptionFilters()
        self._breakpoints = AllBreakpoints(send, suspension, self.stops, self._backward)
        self._configuration = Configure(id=0)
        self._not_yet_imported: Callable[[], None] = lambda: None
        self._awaited = {_DYNAMO, "configuration"}
        self._hooking = threading.Lock()
        self._end_recording: Callable[[], None] = lambda: None
        self._hooks_checked = False
        suspension.on_suspend_requested = self._look_at_compiles
        suspension.on_runtime_stop = self._runtime_stop
        suspension.on_notice = lambda text: send(Output(category="important", output=text))

    # ---- life

    def say_hello(self, suspension_reason: str | None = None) -> None:
        self._send(
            Hello(
                pid=os.getpid(),
                parent_pid=os.getppid(),
                executable=sys.executable,
                python_version=sys.version.split()[0],
                suspension=self.suspension.kind,
                suspension_reason=suspension_reason,
            )
        )

    def install(self) -> None:
        """Hook Dynamo once the session is configured and the program has imported it: this never does."""
        atexit.register(self._breakpoints.explain_at_exit)
        self._not_yet_imported = when_imported(_DYNAMO, lambda: self._is_there(_DYNAMO))

    def _is_there(self, what: str) -> None:
        """Hook Dynamo with the second of the two it takes; they come on different threads."""
        with self._hooking:
            if self._awaited == {what}:
                self._hook_dynamo()
            self._awaited.discard(what)

    def _hook_dynamo(self) -> None:
        try:
            from dynascope.agent.breakpoints.kinds.comptime_stops import ComptimeStops
            from dynascope.agent.tracing.hook import Hook  # imports torch: not before the program has

            missing = self_test.missing_hooks()
            if not missing:
                trace_rules.never_trace(self.suspension.folders_to_skip())
                process.hook_beneath_a_debugger()
                told = self._compiled, self._first_compile, self._breakpoints.stop_in
                hook = Hook(self.suspension, self.stops, self._send, *told)
                self._comptime = ComptimeStops(hook)
                self.reading.begin(hook)
                hook.entering.stops_on_entry = self._wants_entry_stop()
                self.hook = hook
                self._breakpoints.begin(hook)
                self._exception_filters.begin(hook, self._send)
                self._backward.begin()
        except Exception as error:
            missing = [f"{type(error).__name__}: {error}"]
        self._send(DynamoReady(torch_version=_torch_version(), missing=missing))

    def _wants_entry_stop(self) -> bool:
        """debugpy stops at the program's first line; without it the first traced line is the entry."""
        return self._configuration.stop_on_entry and self.suspension.kind == "own loop"

    def _first_compile(self) -> None:
        trace_rules.hide_from_guards(
            os.path.join(folder, name)
            for folder, _, names in os.walk(os.path.join(OUR_FOLDER, "agent"))
            for name in names
            if name.endswith(".py")
        )

    def abandon(self) -> None:
        """In a forked child: forget the session, whose adapter and threads are the parent's."""
        self._not_yet_imported()
        atexit.unregister(self._breakpoints.explain_at_exit)
        self._unhook()
        self.stops.release()
        self.suspension.leave_child()
        self.suspension.close()

    def uninstall(self) -> None:
        """Take every hook out again and let stopped threads go; the program runs on as if we had never been there."""
        self._not_yet_imported()
        atexit.unregister(self._breakpoints.explain_at_exit)
        with self._hooking:
            self._unhook()
            self._awaited.add(_DYNAMO)
        self._end_recording()
        self.stops.cancellation.cancel_all()
        self.stops.release()
        self.suspension.close()
        self.configured.set()

    def _unhook(self) -> None:
        self._exception_filters.end()
        self._breakpoints.end()
        hook, self.hook = self.hook, None
        comptime, self._comptime = self._comptime, None
        if comptime is not None:
            comptime.remove()
        if hook is not None:
            hook.remove()
        self.reading.end()
        self._backward.end()

    # ---- channel thread

    def receive(self, message: ToAgent) -> None:
        """Serve one message. Looks are passed on to the stopped thread and answered there."""
        match message:
            case Acknowledge():
                self.stops.acknowledge(message.thread_ident)
            case Detach():
                self.uninstall()
            case FormatStack() | Scopes() | Variables() | FindStepInTargets() | Evaluate() | Locations():
                self.stops.look(message)
            case Cancel():
                self.stops.cancellation.cancel(message.request_id)
            case SourceText() if self.stops.write_document(message):
                pass
            case FindDataBreakpoint(thread_ident=int()):
                self.stops.look(message)
            case _:
                self._send(answer(message, lambda: self._serve(message), NotStopped, UnknownDocument, BadAddress))

    def _serve(self, message: ToAgent) -> Any:
        if isinstance(message, GoingOn):
            return going_on(message, self.stops, self.suspension)
        match message:
            case Configure():
                return self._configure(message)
            case SetBreakpoints():
                return self._breakpoints.set_lines(message)
            case SetFunctionBreakpoints():
                return self._breakpoints.set_functions(message)
            case SetInstructionBreakpoints():
                return self._breakpoints.set_instructions(message)
            case FindBreakpointLocations():
                return breakpoint_locations(message.path, message.line, message.end_line)
            case Disassemble():
                return self.stops.listings.disassemble(message)
            case SetDataBreakpoints():
                return self._breakpoints.events.take_data(message)
            case FindDataBreakpoint():
                return self._breakpoints.events.find(message)
            case SetExceptionFilters():
                return self._exception_filters.take(message)
            case ConfigurationDone():
                return self.configured.set()
            case Pause():
                return self._pause()
            case Threads():
                return program_threads()
            case Compiles():
                return CompilesBody(compiles=[] if self.hook is None else compiles_now(self.hook, self.stops))
            case Modules():
                return ModulesBody(modules=self.reading.modules())
            case LoadedSources():
                return LoadedSourcesBody(sources=self.reading.sources())
            case SourceText():
                return self.reading.text(message.source_reference)
        raise TypeError(f"an agent serves no {type(message).__name__}")

    def _configure(self, message: Configure) -> None:
        self._configuration = message
        self._breakpoints.debug_dynamo(message.debug_dynamo)
        if self.hook is not None:
            self.hook.entering.stops_on_entry = self._wants_entry_stop()
        self.suspension.configure(message)
        self.stops.ids_begin_at(message.first_id)
        if message.record:
            self._end_recording = process.begin_beside_a_debugger(self._recording_says)
        self._backward.configure(message)
        self._is_there("configuration")

    def _pause(self) -> dict[str, list[int]]:
        compiling = [] if self.hook is None else self.hook.threads.compiling()
        self.suspension.request_pause(None)
        self._look_at_compiles()
        return {"compiling": compiling}

    def _look_at_compiles(self) -> None:
        if self.hook is not None:
            self.hook.watching.look_at_compiles()

    # ---- compiling and program threads

    def comptime_breakpoint(self, context: Any) -> None:
        """`dynascope.breakpoint()` in compiled code, with Dynamo's `ComptimeContext`."""
        if self._comptime is not None:
            self._comptime.breakpoint(context)

    def tell(self, notice: Output) -> None:
        """Show a line in the debug console."""
        self._send(notice)

    def _recording_says(self, text: str) -> None:
        self._send(Output(category="console", output=f"dynascope: {text}\n"))

    def _step_into_next_compile(self) -> None:
        if self.hook is not None:
            stepping = self.hook.threads.current().stepping
            stepping.step_into_compile()
            stepping.compile_ends()

    def _runtime_stop(self) -> None:
        if self.hook is not None:
            self.hook.step_ended_at_runtime()

    def _compiled(self, traced: list[types.CodeType], skipped: list[tuple[types.CodeType, str]]) -> None:
        if traced and not self._hooks_checked:
            self._hooks_checked = True
            if self.hook is not None and not self.hook.frames_entered:
                self._send(DynamoReady(torch_version=_torch_version(), missing=["OutputGraph.push_tx was not called"]))
        self.reading.compiled(traced)
        self._breakpoints.compiled(traced, skipped)


def _torch_version() -> str:
    return str(getattr(sys.modules.get("torch"), "__version__", "unknown"))
