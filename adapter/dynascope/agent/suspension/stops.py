"""Report each compile-time stop to the adapter, and wait until the thread is resumed."""

from __future__ import annotations

import itertools
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.program import collector, interruption
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.interruption import Cancellation
from dynascope.agent.program.threads import program_frames
from dynascope.agent.suspension.interface import Suspension
from dynascope.agent.suspension.time_limits import TimeLimits
from dynascope.wire.beyond_dap import FIRST_AGENT_ID, document_path
from dynascope.wire.dap import ExceptionInfo, Source
from dynascope.wire.from_agent import CompileBegins, ConsoleOutput, Invalidated, Resumed, Stopping
from dynascope.wire.messages import Area, Granularity, Message, ResumeCommand, StopReason
from dynascope.wire.to_agent import PrepareStep


@dataclass(frozen=True)
class ExceptionStop:
    """The exception of a filter's stop, and its heading, such as "Paused on graph break"."""

    info: ExceptionInfo
    description: str


@dataclass
class Stop:
    """One stop: DAP's reason, the breakpoints hit, and a text with more detail than the reason."""

    reason: StopReason
    breakpoint_ids: list[int] = field(default_factory=list)
    text: str | None = None
    exception: ExceptionStop | None = None

    def merged(self, other: Stop) -> Stop:
        """Return one stop for both at the same place, with the reason of the one that has a text."""
        first = other if other.text is not None and self.text is None else self
        reason = first.reason if first.text is not None or self.reason == other.reason else "breakpoint"
        ids = [*first.breakpoint_ids, *(self if first is other else other).breakpoint_ids]
        return Stop(reason, ids, first.text, first.exception)


_DESCRIPTION = "Paused at compile time"


class CompileStops:
    """The stops by thread. Methods run on the channel's thread unless a heading names another."""

    def __init__(self, send: Callable[[Message], None], suspension: Suspension) -> None:
        self._send = send
        self._suspension = suspension
        self._ids: Iterator[int] = itertools.count(FIRST_AGENT_ID)
        self._inspections: dict[int, Any] = {}
        self._acknowledged: dict[int, threading.Event] = {}
        self._over = False
        self.cancellation = Cancellation()
        self.tell_timeline: Callable[[Stopping], object] = lambda stopping: None
        self.source_references: Iterator[int] = itertools.count(FIRST_AGENT_ID)
        """The reference numbers of documents, both of stops and of those that outlive a stop."""
        self._documents: dict[int, tuple[int, Source]] = {}
        """By reference: the ident of the stopped thread, and the document of its stop."""
        self._steps: dict[int, PrepareStep] = {}
        self.time_limits = TimeLimits(send)

    # ---- the stopped thread

    def wait(
        self,
        make_inspection: Callable[[Iterator[int], Sequence[types.FrameType]], Any],
        first_runtime_frame: types.FrameType | None,
        stop: Stop,
        description: str = _DESCRIPTION,
        is_past: bool = False,
    ) -> ResumeCommand:
        """Stop the current thread; return the command with which the user resumes it.

        `make_inspection` gets ids and, where debugpy shows none, the frames of the running program. It returns an
        inspection: the first `symbolic_frames` of its `frames` do not run.
        `is_past`: the user looks at a past line, and nothing has stopped there. Called within a hook, which is
        not counted for garbage collection.
        """
        is_stopped = this_threads_clock().stands  # and runs what is evaluated there: it cannot be resumed twice
        if self._over or is_stopped or not self._suspension.may_stop:
            return "continue"
        thread, suspension = threading.current_thread(), self._suspension
        self.time_limits.tell()
        ident = threading.get_ident()
        own_loop = suspension.kind == "own loop"
        runtime_frames = program_frames(first_runtime_frame, suspension.is_user_code) if own_loop else ()
        inspection = make_inspection(self._ids, runtime_frames)
        inspection.first_runtime_frame = first_runtime_frame if own_loop else None
        self._inspections[ident] = inspection
        self._steps.pop(ident, None)
        acknowledged = self._acknowledged[ident] = threading.Event()
        document = inspection.document = self._document(inspection, ident)
        symbolic = inspection.frames[: inspection.symbolic_frames]
        suspension.prepare()
        interruption.stop_begins()
        try:
            stopping = Stopping(
                thread_ident=ident,
                thread_id=suspension.thread_id(),
                thread_name=thread.name,
                reason=stop.reason,
                description=description if stop.exception is None else stop.exception.description,
                frames=inspection.frames,
                symbolic_frames=len(symbolic),
                own_loop=own_loop,
                hit_breakpoint_ids=stop.breakpoint_ids,
                text=stop.text,
                documents=[document],
                exception=None if stop.exception is None else stop.exception.info,
                goes_back=inspection.travel_plan is not None,
                is_past=is_past,
            )
            self.tell_timeline(stopping)
            self._send(stopping)
            with this_threads_clock().standing():
                if suspension.needs_acknowledgement and not self._over:  # the client may have left since
                    acknowledged.wait()
                with collector.waiting():
                    return "continue" if self._over else suspension.wait(symbolic, first_runtime_frame, stop.reason)
        except BaseException as error:
            interruption.stop_interrupted(error)
            raise
        finally:
            del self._inspections[ident], self._acknowledged[ident]
            inspection.close()
            del self._documents[document.source_reference or 0]
            self._send(Resumed(thread_ident=ident, documents=[document]))

    def inspection(self) -> Any:
        """Return the inspection of the current thread's stop; None when it is not stopped."""
        return self._inspections.get(threading.get_ident())

    def step_prepared(self, at: int) -> tuple[Granularity, tuple[int, int] | None]:
        """Return granularity and call for `Stepping.command`, after a resume at instruction `at`."""
        prepared = self._steps.pop(threading.get_ident(), None)
        if prepared is None:
            return "line", None
        return prepared.granularity, None if prepared.target_id is None else (at, prepared.target_id)

    def compile_begins(self) -> None:
        """Report a compile to the adapter while another thread is stopped. On the compiling thread."""
        if self._inspections:
            self._send(CompileBegins(thread_ident=threading.get_ident()))

    def invalidate(self, areas: list[Area]) -> None:
        """Report that the client's view of this stop is stale (DAP `invalidated`). Stopped thread."""
        self._send(Invalidated(thread_ident=threading.get_ident(), areas=areas))

    def tell(self, text: str) -> None:
        """Write a text to the debug console."""
        self._send(ConsoleOutput(category="console", output=f"{text}\n"))

    # ---- any thread

    def stopped_threads(self) -> set[int]:
        """Return the idents of the threads that are stopped."""
        return set(self._inspections)

    def documents(self) -> list[Source]:
        """Return the documents of the current stops."""
        return [source for _, source in list(self._documents.values())]

    def thread_of_document(self, source_reference: int) -> int | None:
        """Return the ident of the thread at whose stop a document was created, or None."""
        return self._documents.get(source_reference, (None, None))[0]

    # ---- the channel's thread

    def prepare_step(self, request: PrepareStep) -> bool:
        """Keep `request` until its thread is resumed; return False when that is not stopped."""
        is_stopped = request.thread_ident in self._inspections
        if is_stopped:
            self._steps[request.thread_ident] = request
        return is_stopped

    def start_ids_at(self, first: int) -> None:
        """Number frame ids and variablesReferences from `first`; those of several agents differ."""
        self._ids = itertools.count(first)

    def acknowledge(self, thread_ident: int) -> None:
        """Let that thread wait at its stop: the adapter has received it."""
        acknowledged = self._acknowledged.get(thread_ident)
        if acknowledged is not None:
            acknowledged.set()

    def end(self) -> None:
        """Stop no thread from now on."""
        self._over = True

    def release(self) -> None:
        """Resume every waiting thread, and stop no thread from now on."""
        self.end()
        for acknowledged in list(self._acknowledged.values()):
            acknowledged.set()
        self._suspension.release_all()

    def _document(self, inspection: Any, ident: int) -> Source:
        """Register the document of the graph so far, which is written when a client opens it."""
        reference = next(self.source_references)
        name, origin = inspection.document_name, "torch.compile: the graph at this stop"
        source = Source(name=name, path=document_path(name, "py"), source_reference=reference, origin=origin)
        self._documents[reference] = ident, source
        return source
