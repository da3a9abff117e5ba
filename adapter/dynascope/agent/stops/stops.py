"""One stop of a compiling thread: tell the adapter, wait, and answer its questions meanwhile."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dynascope.agent.documents.disassembly import Listings
from dynascope.agent.documents.documents import PYTHON, document_source
from dynascope.agent.inspection.cancellation import Cancellation, Cancelled
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.frames import program_frames
from dynascope.agent.stops.garbage_collection import collection_postponed
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.channel import encode_body
from dynascope.wire.dap import FIRST_AGENT_ID, Source, SourceBody
from dynascope.wire.exceptions import ExceptionInfo
from dynascope.wire.from_agent import CompileBegins, Failure, Invalidated, Reply, Resumed, Stopping
from dynascope.wire.messages import Area, Granularity, Message, Request, ResumeCommand, StopReason
from dynascope.wire.to_agent import (
    Evaluate,
    FindDataBreakpoint,
    FindStepInTargets,
    FormatStack,
    Locations,
    PrepareStep,
    Scopes,
    SourceText,
    Variables,
)

_DESCRIPTION = "Paused at compile time"
_GONE = "This thread is not stopped at compile time any more."

Look = FormatStack | Scopes | Variables | FindStepInTargets | Evaluate | Locations | FindDataBreakpoint
"""What is answered on the stopped thread."""


@dataclass(frozen=True)
class ExceptionStop:
    """What an exception filter stops at, and the heading of the stop: "Paused on graph break"."""

    info: ExceptionInfo
    description: str


class Stops:
    """The stops there are now, by thread. `hold` runs on the stopped thread; the rest on the channel's."""

    def __init__(self, send: Callable[[Message], None], suspension: Suspension) -> None:
        self._send = send
        self._suspension = suspension
        self._ids: Iterator[int] = itertools.count(FIRST_AGENT_ID)
        self._inspections: dict[int, Any] = {}
        self._acknowledged: dict[int, threading.Event] = {}
        self._over = False
        self.cancellation = Cancellation()
        self.source_references: Iterator[int] = itertools.count(FIRST_AGENT_ID)
        """Numbers documents: those of stops, and those that outlive them."""
        self._documents: dict[int, tuple[int, Source]] = {}
        """By reference: the thread whose stop it is of."""
        self._steps: dict[int, PrepareStep] = {}
        self.listings = Listings()

    def hold(
        self,
        translators: Sequence[Translator],
        below: types.FrameType | None,
        reason: StopReason,
        breakpoint_ids: list[int],
        text: str | None = None,
        exception: ExceptionStop | None = None,
    ) -> ResumeCommand:
        """Stop the current thread; returns how the user wants it to go on. `translators` are innermost first."""
        make = functools.partial(self._inspection, translators)
        description = _DESCRIPTION if exception is None else exception.description
        return self.hold_inspection(make, below, reason, breakpoint_ids, description, text, exception)

    def _inspection(
        self, translators: Sequence[Translator], ids: Iterator[int], below: Sequence[types.FrameType]
    ) -> Any:
        from dynascope.agent.inspection.inspection import Inspection

        inspection = Inspection(translators, ids, below)
        for frame, translator in zip(inspection.frames, translators, strict=False):
            frame.instruction_pointer_reference = self.listings.address_of(translator)
        return inspection

    def prepare_step(self, request: PrepareStep) -> bool:
        """Keep it until that thread is resumed; False when it is not stopped."""
        stopped = request.thread_ident in self._inspections
        if stopped:
            self._steps[request.thread_ident] = request
        return stopped

    def step_prepared(self, at: int) -> tuple[Granularity, tuple[int, int] | None]:
        """On a thread that has just been resumed at instruction `at`: what `Stepping.command` wants to know."""
        prepared = self._steps.pop(threading.get_ident(), None)
        if prepared is None:
            return "line", None
        return prepared.granularity, None if prepared.target_id is None else (at, prepared.target_id)

    def hold_at_entry(
        self,
        frame: Any,
        below: types.FrameType | None,
        breakpoint_ids: list[int],
        text: str,
        exception: ExceptionStop,
    ) -> ResumeCommand:
        """`hold` for a frame that Dynamo does not trace."""
        from dynascope.agent.inspection.skipped_frame import EntryInspection

        make = functools.partial(EntryInspection, frame)
        return self.hold_inspection(make, below, "exception", breakpoint_ids, exception.description, text, exception)

    def hold_inspection(
        self,
        make_inspection: Callable[[Iterator[int], Sequence[types.FrameType]], Any],
        below: types.FrameType | None,
        reason: StopReason,
        breakpoint_ids: list[int],
        description: str,
        text: str | None = None,
        exception: ExceptionStop | None = None,
    ) -> ResumeCommand:
        """`hold` for whatever is inspected: it is given ids, and the frames that run where debugpy shows none.

        Of its `frames`, `symbolic_frames` do not run.
        """
        if self._over:
            return "continue"
        thread, suspension = threading.current_thread(), self._suspension
        ident = threading.get_ident()
        own_loop = suspension.kind == "own loop"
        runtime_frames = program_frames(below, suspension.is_user_code) if own_loop else ()
        inspection = make_inspection(self._ids, runtime_frames)
        inspection.below = below if own_loop else None
        self._inspections[ident] = inspection
        self._steps.pop(ident, None)
        known = self._acknowledged[ident] = threading.Event()
        document = inspection.document = self._document(inspection, ident)
        symbolic = inspection.frames[: inspection.symbolic_frames]
        suspension.prepare()
        try:
            self._send(
                Stopping(
                    thread_ident=ident,
                    thread_id=suspension.thread_id(),
                    thread_name=thread.name,
                    reason=reason,
                    description=description,
                    frames=inspection.frames,
                    symbolic_frames=len(symbolic),
                    own_loop=own_loop,
                    hit_breakpoint_ids=breakpoint_ids,
                    text=text,
                    documents=[document],
                    exception=None if exception is None else exception.info,
                )
            )
            with this_threads_clock().standing():
                if suspension.needs_acknowledgement:
                    known.wait()
                return "continue" if self._over else suspension.wait(symbolic, below, reason)
        finally:
            del self._inspections[ident], self._acknowledged[ident]
            del self._documents[document.source_reference or 0]
            self._send(Resumed(thread_ident=ident, documents=[document]))

    def _document(self, inspection: Any, ident: int) -> Source:
        """The graph so far, which is written when somebody asks for it."""
        reference = next(self.source_references)
        source = document_source(inspection.document_name, reference, "torch.compile: the graph at this stop", "py")
        self._documents[reference] = ident, source
        return source

    def documents(self) -> list[Source]:
        """Those of the stops there are now."""
        return [source for _, source in list(self._documents.values())]

    def write_document(self, request: SourceText) -> bool:
        """Have the stopped thread answer; False when the document is of no stop there is now."""
        ident, _ = self._documents.get(request.source_reference, (None, None))
        return ident is not None and self._posted(request, ident)

    def ids_begin_at(self, first: int) -> None:
        """Frame ids and variablesReferences count up from here: an adapter with several agents keeps them apart."""
        self._ids = itertools.count(first)

    def acknowledge(self, thread_ident: int) -> None:
        known = self._acknowledged.get(thread_ident)
        if known is not None:
            known.set()

    def release(self) -> None:
        """No stop from here on; threads that wait go on."""
        self._over = True
        for known in list(self._acknowledged.values()):
            known.set()
        self._suspension.release_all()

    def look(self, request: Look) -> None:
        """Answer a request about a stop on the thread it is about."""
        ident = request.thread_ident
        posted = ident in self._inspections and self._posted(request, ident or 0)
        if not posted:
            self._send(Failure(id=request.id, message=_GONE))

    def _posted(self, request: Look | SourceText, ident: int) -> bool:
        """Have the thread answer; False when it is not stopped any more."""
        self.cancellation.expect(request.id)
        posted = self._suspension.post(ident, lambda: self._answer(request))
        if not posted:
            self.cancellation.forget(request.id)
        return posted

    def compile_begins(self) -> None:
        """On a compiling thread: while another is stopped, the adapter wants to know who will wait for it."""
        if self._inspections:
            self._send(CompileBegins(thread_ident=threading.get_ident()))

    def stopped_threads(self) -> set[int]:
        """Their idents; any thread."""
        return set(self._inspections)

    def changed(self, areas: list[Area], frame_id: int | None = None) -> None:
        """On a stopped thread: what the client has fetched of this stop is not what it would get now."""
        self._send(Invalidated(thread_ident=threading.get_ident(), areas=areas, stack_frame_id=frame_id))

    def _answer(self, request: Look | SourceText) -> None:
        from dynascope.agent.breakpoints.conditions import EvaluationError

        inspection = self._inspections.get(threading.get_ident())

        def look() -> Any:
            with contextlib.nullcontext() if isinstance(request, Evaluate) else collection_postponed():
                body = _look(inspection, request)
            if inspection is not None and isinstance(request, Evaluate) and inspection.evaluation_changed:
                inspection.evaluation_changed = False
                self.changed(["variables"])
            return body

        try:
            result = self.cancellation.run(request.id, lambda: answer(request, look, EvaluationError))
        except Cancelled:
            result = Failure(id=request.id, message="cancelled")
        self._send(result)


def answer(request: Request, make_body: Callable[[], Any], *sentences: type[Exception]) -> Reply | Failure:
    """The reply with the body that `make_body` returns, or a failure with what its exception says.

    The text of the exceptions in `sentences` is one for the user.
    """
    try:
        body = make_body()
        return Reply(id=request.id, body=msgspec.Raw(b"{}") if body is None else encode_body(body))
    except sentences as error:
        return Failure(id=request.id, message=str(error))
    except Exception as error:
        return Failure(id=request.id, message=f"{type(error).__name__}: {error}")


def _look(inspection: Any, request: Look | SourceText) -> Any:
    from dynascope.agent.inspection.frames.stack_format import formatted_stack

    if inspection is None:
        raise LookupError("This stop is over.")
    match request:
        case FormatStack():
            return formatted_stack(inspection, request)
        case Scopes():
            return inspection.scopes(request.frame_id)
        case Variables():
            return inspection.variables(request)
        case FindStepInTargets():
            return inspection.step_in_targets(request.frame_id)
        case Evaluate():
            return inspection.evaluate(request)
        case Locations():
            return inspection.location(request.location_reference)
        case SourceText():
            return SourceBody(content=inspection.document_text(), mime_type=PYTHON)
        case FindDataBreakpoint():
            return inspection.data_breakpoint(request)
