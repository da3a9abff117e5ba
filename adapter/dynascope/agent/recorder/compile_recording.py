"""Collect the facts of one compile from its attempts and events."""

from __future__ import annotations

import sys
import threading
import time
import types
from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from dynascope.agent.events.compiles import Ending
from dynascope.agent.internals.codegen.generated import bytecode_of
from dynascope.agent.internals.compile import exceptions, failed_guard
from dynascope.agent.internals.compile.call import arguments_of, elements_of, keywords_of, layouts_of, texts_of
from dynascope.agent.internals.compile.compile_context import backend_name, dynamic_shapes
from dynascope.agent.internals.frames.resume import line_of_break, original_code
from dynascope.agent.internals.graph.code import graphs_of
from dynascope.agent.internals.graph.graph import graph_size
from dynascope.agent.internals.guards.guards import built_guards
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.user_code import (
    has_file,
    is_our_code,
    is_user_code,
    package_of_file,
    path_of,
    path_of_file,
)
from dynascope.agent.ranks.comparison import CollectivesOfGraphs
from dynascope.agent.recorder import ending as at_the_end
from dynascope.agent.recorder.asked_lines import AskedLines
from dynascope.agent.recorder.profile_writer import ProfileWriter
from dynascope.agent.recorder.shown_compile import ShownCompile
from dynascope.agent.recorder.trace import LineTimes, Trace, line_times
from dynascope.agent.recorder.varying_guards import VaryingRecording
from dynascope.agent.speculation.retrace import is_repeated
from dynascope.facts import break_message, user_stack
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.generated.model import Graph, LaterForm
from dynascope.facts.in_progress import CompileInProgress, Slot
from dynascope.facts.model import (
    BackendFailure,
    BreakEffect,
    Compile,
    CompiledCall,
    CompileFacts,
    GraphBreak,
    Guard,
    Recompile,
    Specialization,
    Symbol,
    TracedFact,
)
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.known import stands_for_more
from dynascope.facts.schema import TRACED
from dynascope.facts.user_stack import UserFrame

_EARLIER_KEPT = 8
_FAILURE_LINES, _REASON_LINES = 60, 6


def call_of(code: types.CodeType, values: Mapping[str, Any]) -> CompiledCall:
    """Return the call; `values`: the arguments by name. Called where Dynamo begins to compile."""
    elements = elements_of(code, values)
    call = CompiledCall(
        arguments_of(code, values),
        dynamic=dynamic_shapes(),
        keywords=keywords_of(code),
        layouts=layouts_of({**values, **elements}),
        elements=texts_of(elements),
    )
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        path = path_of(frame.f_code)
        if has_file(path) and is_user_code(path) and not is_our_code(path):
            call.path, call.line, call.function = path, frame.f_lineno, frame.f_code.co_qualname
            break
        frame = frame.f_back
    return call


class CompileRecording:
    """The recording of a compile, from Dynamo's decision to compile a frame to `finish`."""

    def __init__(
        self,
        code: types.CodeType,
        compile_id: str,
        slot: Slot,
        keeps_generated: bool,
        call: CompiledCall,
        wrapped: str | None,
    ) -> None:
        """Show the compile in `slot` until `finish`.

        `keeps_generated`: whether graphs and bytecode are facts too. `wrapped`: the name of what torch compiles in a
        function of its own, which is told at the line that calls it.
        """
        self.code = code
        self.compile_id = compile_id
        self.attempts = 0
        self.call = call
        """The call of the function for which it is compiled."""
        self.trace: Trace | None = None
        self._began = time.time()
        original = original_code(code)
        self._function, self._path, self._line = original.co_qualname, path_of(original), original.co_firstlineno
        if wrapped is not None and call.path:
            self._function, self._path, self._line = wrapped, call.path, call.line
        clock = this_threads_clock()
        self._now = clock.now
        about = CompileInProgress(compile_id, self._function, self._path, self._line, line_of_break(code))
        self.shown = ShownCompile(slot, clock, about)
        self._clock = self.shown.compile.start
        self.thread = threading.get_ident()
        self.profile = ProfileWriter(self._now, self.shown)
        self._times: LineTimes = {}
        self._earlier: deque[Trail] = deque(maxlen=_EARLIER_KEPT)
        """The trails of the attempts before this one."""
        self._attempt_began = self._clock
        self._times_before: LineTimes = {}
        """The times when the attempt began."""
        self._made_before = 0, 0
        self._breaks: dict[tuple[Any, ...], GraphBreak] = {}
        self.failed: list[Recompile] = []
        """Why earlier compiles could not be used."""
        self._happened: dict[type[Struct], list[TracedFact]] = {}
        self._backend = ""
        self._is_in_backend = False
        self._began_aside = 0.0
        """When the line's time was paused, for the backend or for other ranks."""
        self._backend_seconds = self._rank_wait_seconds = 0.0
        self._keeps_generated = keeps_generated
        self._symbols: list[Symbol] = []
        self._graph_sizes: list[int] = []
        self._graphs: list[list[Graph]] = []
        """For each size, the graph and those of its operators."""
        self.collectives = CollectivesOfGraphs()
        self.forms: list[LaterForm] = []
        self._built_guards: list[Guard] = []
        self.varying = VaryingRecording(compile_id, self._function)

    def attempt_begins(self) -> None:
        """Begin to record an attempt; one that repeats another abandons it, and does not count."""
        now = self._now()
        if is_repeated():
            self._clock += now - self._attempt_began
            self.profile.forget_attempt(now - self._attempt_began)
            self._times.clear()
            self._times.update(self._times_before)
            graphs, forms = self._made_before
            del self._graph_sizes[graphs:], self._graphs[graphs:], self.forms[forms:]
        else:
            if self.trace is not None:
                self._earlier.append(self.trace.finished_trail(is_repeated=True))
            self.attempts += 1
        self._attempt_began, self._made_before = now, (len(self._graph_sizes), len(self.forms))
        self._times_before = {
            path: {line: list(spent) for line, spent in lines.items()} for path, lines in self._times.items()
        }
        self.collectives.forget()
        self.profile.attempt_begins()
        self.shown.attempt_begins(self.attempts)
        self.trace = Trace(self._times, self.profile, self.shown)

    def backend_begins(self, output: Any, graph_module: Any) -> None:
        self._backend = self.shown.compile.backend = backend_name(output)
        self._is_in_backend = True
        self._graph_sizes.append(graph_size(graph_module))
        self.pause_line()
        self.collectives.add(graph_module)
        if self._keeps_generated:
            self._graphs.append(graphs_of(graph_module, package_of_file, path_of_file))
            self.backend_goes_on()

    def backend_goes_on(self) -> None:
        """Count the time of the backend from here on, without that of reading before it."""
        self._began_aside = self._now()

    def backend_ends(self) -> None:
        self._is_in_backend = False
        self._backend_seconds += self._line_continues()

    def rank_wait_ends(self) -> None:
        self._rank_wait_seconds += self._line_continues()

    def pause_line(self) -> None:
        if self.trace is not None:
            self.trace.pause()
        self._began_aside = self._now()

    def _line_continues(self) -> float:
        """Return the seconds that do not count as the line's."""
        aside = self._now() - self._began_aside
        if self.trace is not None:
            self.trace.phase_ends()
        return aside

    def phase_begins(self, name: str) -> None:
        if self.trace is not None:
            self.trace.phase_begins()
        self.profile.phase_begins(name)

    def phase_ends(self, name: str) -> None:
        self.profile.phase_ends(name)
        if self.trace is not None:
            self.trace.phase_ends()

    def guards_built(self, output: Any, kept: list[Any]) -> None:
        self._built_guards = built_guards(output, kept, path_of_file)

    def graph_break(self, effect: BreakEffect, message: str, stack: list[UserFrame]) -> None:
        self._add_break(effect, message, stack)

    def graph_break_counted(self, message: str) -> None:
        """Count a break for Dynamo's counter: the latest one with this message.

        Dynamo adds to the message of a break in a generator.
        """
        latest = [*reversed(self._breaks.values())]
        equal = (each for each in latest if each.reason == message)
        begun = (each for each in latest if each.reason and message.startswith(each.reason))
        found = next(equal, None) or next(begun, None)
        if found is not None:
            found.counted += 1
            return
        self._add_break("resumed", message, exceptions.traced_stack())
        next(reversed(self._breaks.values())).counted += 1

    def _add_break(self, effect: BreakEffect, message: str, stack: list[UserFrame]) -> None:
        frames = tuple(_real_frames(stack))
        key = effect, message, frames
        recorded = self._breaks.get(key)
        if recorded is not None:
            recorded.count += 1
            return
        function = UserFrame(self._path, self._line, self._function)
        self._breaks[key] = break_message.graph_break(message, effect, frames, function)

    def recompiles(self, reasons: list[str], frame: Any, asked_lines: AskedLines) -> None:
        found, self.call.fits = recompile_reason.of_guards(reasons)
        self.failed = [self._recompile(reason, frame, asked_lines) for reason in found]

    def _recompile(self, reason: str, frame: Any, asked_lines: AskedLines) -> Recompile:
        failed = recompile_reason.parse(reason, self._path)
        failed.guard = asked_lines.guard(failed.failed_compile_id, failed.guard)
        if failed.path is None and not failed.no_line_needs_it:
            failed.path, failed.line = asked_lines.line(failed.failed_compile_id, failed.guard) or (None, None)
        made = failed_guard.recompile(failed, frame)
        made.path, made.line, made.function = self._path, self._line, self._function
        made.guard_path = None if failed.path is None else path_of_file(failed.path)
        return made

    def happened(self, fact: TracedFact) -> None:
        """Record a fact once, at the line that is traced.

        A fact that has a stack is at the line of its innermost frame.
        """
        stack = fact.stack or exceptions.traced_stack() or (self.trace.stack if self.trace is not None else [])
        frames = _real_frames(stack)
        at = user_stack.innermost(frames) or UserFrame(self._path, self._line, self._function)
        fact.path, fact.line, fact.stack = at.path, at.line, user_stack.tidy_stack(frames)
        if self._is_in_backend and isinstance(fact, Specialization):
            fact.backend = self._backend
        known = self._happened.setdefault(type(fact), [])
        if fact not in known:
            known.append(fact)

    def trace_ends(self) -> None:
        """Read what the facts tell of the whole trace, and drop the trace.

        Called before torch collects what it has left.
        """
        trace = self.trace
        if trace is not None and trace.output is not None:
            self._symbols = at_the_end.symbols(trace.output, list(trace.tensors.values()))
            # where no graph was compiled, the backend is known all the same
            self._backend = self._backend or backend_name(trace.output)
            trace.ends()

    def finish(self, ending: Ending, stack_of_error: list[UserFrame]) -> CompileFacts:
        """Return all facts, once Dynamo has finished the compile."""
        self.trace_ends()
        error = ending.error
        if exceptions.reached_recompile_limit(error):
            for recompile in self.failed:
                recompile.limit_reached = True
        elif error is not None and ending.is_raised and exceptions.is_soft(error):
            self._add_break("raised", str(getattr(error, "msg", error)), stack_of_error)
        profile = self.profile.profile()  # before the compile's own time is taken: the parts are not more than it
        facts = CompileFacts(
            compile=self._compile(ending),
            graph_breaks=list(self._breaks.values()),
            recompiles=self.failed,
            backend_failures=self._backend_failures(error),
            line_times=line_times(self._times),
            profile=profile,
            call=self.call,
            guards=self._built_guards if ending.compiled else [],
            graphs=[graph for each in self._graphs for graph in each],
            forms=self.forms,
        )
        for name, mapping in TRACED.items():
            setattr(facts, name, self._happened.get(mapping.struct, []))
        if self._keeps_generated and ending.code is not None:
            facts.bytecode = bytecode_of(ending.code)
        if self.trace is not None:
            facts.calls = self.profile.calls()
            facts.tensors = list(self.trace.tensors.values())
            facts.symbols = self._symbols
            # an attempt that Dynamo has given up, as for a graph break, may have gone on to what needs the number
            dynamic = {each.name for each in self._symbols if stands_for_more(each)}
            facts.specializations = [each for each in facts.specializations if each.symbol not in dynamic]
        return facts

    def trail(self) -> Trail:
        """Return the trail of this attempt so far."""
        return self.trace.trail_so_far() if self.trace is not None else Trail([], [], [], [])

    def trails(self) -> list[Trail]:
        """Return the trails of the latest attempts, the last one's last."""
        return [*self._earlier, *([self.trace.finished_trail()] if self.trace is not None else [])]

    def _compile(self, ending: Ending) -> Compile:
        error, skip_reason, failure = ending.error, ending.skip_reason, None
        if ending.compiled:
            status = "compiled" if self._graph_sizes else "empty"
        elif error is not None and ending.is_raised:
            status, failure = "failed", f"{type(error).__name__}: {at_the_end.shortened(str(error), _FAILURE_LINES)}"
        else:
            status = "skipped"
            skip_reason = skip_reason or at_the_end.shortened(str(error or ""), _REASON_LINES)
        return Compile(
            compile_id=self.compile_id,
            attempts=max(self.attempts, 1),
            function=self._function,
            path=self._path,
            line=self._line,
            resumes_at=line_of_break(self.code),
            backend=self._backend,
            reason=self.failed[0].guard if self.failed else None,
            status=status,  # type: ignore[arg-type]  # one of the literals
            skip_reason=skip_reason,
            failure=failure,
            began=self._began,
            seconds=self._now() - self._clock,
            backend_seconds=self._backend_seconds,
            rank_wait_seconds=self._rank_wait_seconds,
            graphs=len(self._graph_sizes) if ending.compiled else 0,
            nodes=sum(self._graph_sizes) if ending.compiled else 0,
        )

    def _backend_failures(self, error: BaseException | None) -> list[BackendFailure]:
        failure = exceptions.failure_of_backend(error) if error is not None else None
        if failure is None:
            return []
        backend, exception, message = failure
        last = self.trace.last_place if self.trace is not None else None
        path, line = last or (self._path, self._line)
        return [BackendFailure(path=path, line=line, backend=backend, exception=exception, message=message)]


def _real_frames(stack: list[UserFrame]) -> list[UserFrame]:
    """Return the frames with real paths, without Dynascope's own."""
    return [
        UserFrame(path_of_file(frame.path), frame.line, frame.function)
        for frame in stack
        if not is_our_code(frame.path)
    ]
