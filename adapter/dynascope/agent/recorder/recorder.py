"""Record Dynamo's events and write each compile at its end; an error loses only facts."""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec

from dynascope.agent.events import torch_names
from dynascope.agent.events.autograd.compiled_autograd import CaptureEvents
from dynascope.agent.events.compiles import CompileEvents, Ending, PhaseEvents
from dynascope.agent.events.facts import FACT_EVENTS
from dynascope.agent.events.frames import ActivationHooks, LineEvents
from dynascope.agent.events.graph_breaks import GraphBreakEvents
from dynascope.agent.events.graphs import SkippedCudaGraphs
from dynascope.agent.events.graphs import hooks as form_hooks
from dynascope.agent.events.guards import BuildEvents
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.compile import exceptions
from dynascope.agent.internals.compile.call import wrapped_name
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.guards.tree import CacheEntry
from dynascope.agent.isolation.unseen import hide_from_guards, never_trace, unseen
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.user_code import NEVER_TRACED, has_file, is_our_code, is_user_code, path_of
from dynascope.agent.ranks.comparison import RankComparison
from dynascope.agent.recorder.asked_lines import AskedLines
from dynascope.agent.recorder.compile_recording import CompileRecording, call_of
from dynascope.agent.recorder.later import LaterPhases, WriteLater, cuda_graphs_skipped, recorded_forms
from dynascope.agent.recorder.shown_compile import ShownCompile
from dynascope.agent.recorder.varying_guards import PinnedGlobals
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.in_progress import Board
from dynascope.facts.model import Compile, CompileFacts

Write = Callable[[CompileFacts, Sequence[Trail]], object]
P = ParamSpec("P")


def _innermost(hear: Callable[Concatenate[CompileRecording, P], object]) -> Callable[Concatenate[Recorder, P], None]:
    """Return a method that passes an event to the innermost recording in progress."""

    def call(self: Recorder, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._compiles:
            hear(self._compiles[-1], *args, **kwargs)

    return call


class Recorder:
    """Record once torch._dynamo is imported; `report` gets errors.

    `write` gets the facts of each compile, `write_later` the profile of what torch compiles afterwards for one (its
    backward, its kernels) and what it makes. `board` shows other processes what is compiled now. `keeps_generated`:
    whether graphs, what is made of them and bytecode are facts too. `keeps_guard_costs`: whether guards are measured.
    `ranks` compares compiles with those of other ranks.
    """

    def __init__(
        self,
        write: Write,
        write_later: WriteLater,
        report: Callable[[str], None],
        board: Board,
        keeps_generated: bool = True,
        keeps_guard_costs: bool = False,
        ranks: RankComparison | None = None,
    ) -> None:
        self._write = write
        self._board = board
        self._keeps_generated = keeps_generated
        failures = self.failures = HookFailures(report, "recording")
        self._compiles: list[CompileRecording] = []
        """The compiles in progress, outermost first. Dynamo's compile lock admits one thread at a time."""
        self._skips_known: set[tuple[str, int]] = set()
        never_trace(NEVER_TRACED)
        self._hooks: list[Events] = [
            CompileEvents(self, failures),
            GraphBreakEvents(self._graph_break, self._graph_break_counted, failures),
            *(events(self._happened, failures) for events in FACT_EVENTS.values()),
            LineEvents(self._line_begins, failures),
            ActivationHooks(self._entered, self._left, failures),
            PhaseEvents(self._phase_begins, self._phase_ends, failures),
        ]
        self._keeps_guard_costs = keeps_guard_costs
        if keeps_guard_costs:
            self._hooks.append(BuildEvents(failures))
        self._asked_lines = AskedLines()
        self._ranks = ranks
        self._pinned_globals = PinnedGlobals()
        self._later = LaterPhases(write_later, board)
        self._write_later = write_later
        self._hooks.append(CaptureEvents(self._captured, lambda: this_threads_clock().now(), failures))
        if keeps_generated:
            self._hooks += form_hooks(recorded_forms(self._form_made), failures)
        skipped = self._cuda_graphs_skipped
        self._hooks += [SkippedCudaGraphs(name, skipped, failures) for name in torch_names.SKIPPING_CUDA_GRAPHS]

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    @property
    def in_progress(self) -> CompileRecording | None:
        """Return the recording of the innermost compile in progress."""
        return self._compiles[-1] if self._compiles else None

    def shown_on(self, thread: int) -> ShownCompile | None:
        """Return the innermost compile in progress on a thread, also what is compiled later for one."""
        on_it = (each.shown for each in reversed(self._compiles) if each.thread == thread)
        return next(on_it, None) or self._later.shown_on(thread)

    # ---- events.compiles.Observer

    def compile_begins(self, code: types.CodeType, compile_id: str, arguments: dict[str, Any]) -> Any:
        hide_from_guards()
        call, wrapped = call_of(code, arguments), wrapped_name(code, arguments)
        slot = self._board.slot()
        recording = CompileRecording(code, compile_id, slot, self._keeps_generated, call, wrapped)
        self._compiles.append(recording)
        return recording

    attempt_begins = _innermost(CompileRecording.attempt_begins)
    backend_ends = _innermost(CompileRecording.backend_ends)
    rank_wait_begins = _innermost(CompileRecording.pause_line)
    rank_wait_ends = _innermost(CompileRecording.rank_wait_ends)
    guards_built = _innermost(CompileRecording.guards_built)
    _graph_break = _innermost(CompileRecording.graph_break)
    _graph_break_counted = _innermost(CompileRecording.graph_break_counted)
    _happened = _innermost(CompileRecording.happened)

    def recompiles(self, reasons: list[str], frame: Any) -> None:
        if self._compiles:
            self._compiles[-1].recompiles(reasons, frame, self._asked_lines)

    def backend_begins(self, output: Any, graph_module: Any) -> None:
        if self._compiles:
            self._compiles[-1].backend_begins(output, graph_module)
            self._look_for_varying(self._compiles[-1], output)

    @contained
    def _look_for_varying(self, recording: CompileRecording, output: Any) -> None:
        recording.varying.graph_ends(output, self._pinned_globals)
        recording.backend_goes_on()

    def trace_ends(self) -> None:
        recording = self._on_this_thread()
        if recording is not None:
            recording.trace_ends()

    def compile_ends(self, token: Any, ending: Ending) -> None:
        if token not in self._compiles:
            return
        for ended in self._compiles[self._compiles.index(token) :]:
            ended.shown.ends()
        del self._compiles[self._compiles.index(token) :]
        stack = exceptions.stack_of(ending.error) if ending.is_raised else []
        facts = token.finish(ending, stack)
        if not ending.is_capture:
            facts.varying_guards = token.varying.facts(facts, self._pinned_globals)
        self._later.compile_ended(facts.compile)
        self._asked_lines.compile_ended(facts)
        self._board.ended(f"{facts.compile.function} [{token.compile_id}]", time.perf_counter())
        self._skips_known.add((facts.compile.path, facts.compile.line))
        if self._keeps_guard_costs and ending.guards is not None:
            self._measure_guards(token, ending, facts)
        trails = token.trails()
        if not ending.is_capture and trails:
            self._compare_ranks(token, facts, trails[-1])
        self._write(facts, trails)

    @contained
    def _compare_ranks(self, recording: CompileRecording, facts: CompileFacts, trail: Trail) -> None:
        if self._ranks is not None:
            self._ranks.compiled(original_code(recording.code), facts, trail, recording.collectives)

    @contained
    def _measure_guards(self, recording: CompileRecording, ending: Ending, facts: CompileFacts) -> None:
        """Measure the guards for the call for which they were made: they hold until its code runs."""
        from dynascope.agent.documents.saved_guards import guard_costs  # imports what torch saves packages with

        entry = CacheEntry(recording.compile_id, ending.guards)
        with this_threads_clock().standing():
            facts.guard_costs = guard_costs(recording.code, entry, ending.arguments)

    def begin_anew(self) -> None:
        """Drop compiles in progress, and record skipped frames once more, for another receiver."""
        for each in self._compiles:
            each.shown.ends()
        self._compiles.clear()
        self._skips_known.clear()

    def frame_skipped(self, code: types.CodeType, reason: str) -> None:
        """Record once each frame in the user's code that Dynamo did not begin to trace."""
        original = original_code(code)
        path = path_of(original)
        key = path, original.co_firstlineno
        if not has_file(path) or key in self._skips_known or is_our_code(path) or not is_user_code(path):
            return
        self._skips_known.add(key)
        skipped = Compile(
            compile_id="",
            function=original.co_qualname,
            path=path,
            line=original.co_firstlineno,
            status="skipped",
            skip_reason=reason,
            began=time.time(),
            seconds=0.0,
        )
        self._write(CompileFacts(compile=skipped), ())

    def _captured(self, capture_id: str, nodes: int, seconds: float) -> None:
        capture = Compile(
            compile_id=capture_id,
            function="compiled autograd",
            path="",
            line=0,
            status="captured",
            began=time.time() - seconds,
            seconds=seconds,
            graphs=1,
            nodes=nodes,
        )
        unseen(self._write, CompileFacts(compile=capture), ())

    def _form_made(self, compile_id: str, form: LaterForm) -> None:
        recording = self._on_this_thread()
        if recording is not None and recording.compile_id == compile_id:
            recording.forms.append(form)
        else:
            unseen(self._write_later, compile_id, form)

    def _cuda_graphs_skipped(self, compile_id: str, text: str) -> None:
        fact, recording = cuda_graphs_skipped(text), self._on_this_thread()
        if recording is not None and recording.compile_id == compile_id:
            recording.happened(fact)
        else:
            unseen(self._later.cuda_graphs_skipped, compile_id, fact)

    # ---- phases

    def _phase_begins(self, name: str, compile_id: str | None) -> None:
        recording = self._on_this_thread()
        if recording is not None:
            recording.phase_begins(name)
        else:
            unseen(self._later.phase_begins, name, compile_id)  # a backward may compile where Dynamo is on

    def _phase_ends(self, name: str) -> None:
        recording = self._on_this_thread()
        if recording is not None:
            recording.phase_ends(name)
        else:
            unseen(self._later.phase_ends, name)

    def _on_this_thread(self) -> CompileRecording | None:
        latest = self._compiles[-1] if self._compiles else None
        return latest if latest is not None and latest.thread == threading.get_ident() else None

    # ---- frames and lines

    def _entered(self, translator: Any) -> None:
        if self._compiles and (trace := self._compiles[-1].trace) is not None:
            trace.entered(translator)

    def _left(self, translator: Any) -> None:
        if self._compiles and (trace := self._compiles[-1].trace) is not None:
            trace.left(translator)

    def _line_begins(self, translator: Any, line: int) -> None:
        if self._compiles and (trace := self._compiles[-1].trace) is not None:
            trace.line_begins(translator, line)
