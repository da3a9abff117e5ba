"""Ask at compile-time stops from another thread of the program, such as a notebook's, beside the debugger."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dynascope import console
from dynascope.agent.program.collector import collection_postponed
from dynascope.agent.program.interruption import is_of_program
from dynascope.agent.program.threads import program_frames
from dynascope.agent.session.session import AgentSession, current_session
from dynascope.wire.dap import StackFrame, Variable

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection

Question = Callable[["StopInspection", int], "Answer"]
"""Answers at a stop, for the frame with that id."""
SECONDS = 40.0
"""The longest time to wait for an answer: a notebook shows nothing of a cell in the meantime."""


class NotAnswered(Exception):
    """There is no answer; the text is a message for the user."""


class Answer(NamedTuple):
    """A text and the rows below it, or frames."""

    text: str = ""
    rows: Sequence[Variable] = ()
    frames: Sequence[StackFrame] = ()


def ask_all(question: Question, number: int = 0) -> list[tuple[str, Answer]]:
    """Return the name of each thread that is stopped at compile time, with its answer.

    Ask for the frame `number` of each, 0 for the innermost. The stopped thread answers; this must be another.
    Raises NotAnswered, and the exceptions of the question.
    """
    session = current_session()
    stopped = session.stops.stopped_threads() if session is not None else set()
    threads = sorted(
        (thread for thread in threading.enumerate() if thread.ident in stopped), key=lambda each: each.name
    )
    if session is None or not threads:
        raise NotAnswered("No thread is stopped at compile time.")
    return [(thread.name, _ask(session, thread, question, number)) for thread in threads]


def stack(inspection: StopInspection, _: int) -> Answer:
    """Return the frames of a stop, innermost first: those that Dynamo traces, then the running program's."""
    frames = inspection.frames[: inspection.symbolic_frames] or inspection.frames
    running = inspection.frames[len(frames) :]
    session = current_session()
    if not running and session is not None:  # debugpy shows them
        found = program_frames(sys._getframe(), session.suspension.is_user_code)
        running = [inspection.add_runtime_frame(frame) for frame in found]
    return Answer(frames=[*frames, *running])


def scope(name: str, text: str) -> Question:
    """Return the question for the rows of a scope such as `Locals`, those that contain `text`."""
    from dynascope.agent.inspection.row_paths import rows_below, scope_reference

    folded = text.casefold()

    def ask(inspection: StopInspection, frame_id: int) -> Answer:
        reference = scope_reference(inspection, frame_id, name)
        if reference is None:
            raise NotAnswered(f"This frame has no {name}.")
        rows = rows_below(inspection, reference)
        return Answer(rows=[row for row in rows if folded in f"{row.name} {row.value} {row.type or ''}".casefold()])

    return ask


def command(name: str, argument: str) -> Question:
    """Return the question that a command of the debug console is. Raises `console.BadCommand`."""
    from dynascope.agent.inspection.row_paths import rows_below

    found = console.find(name)
    found.check(argument)

    def ask(inspection: StopInspection, frame_id: int) -> Answer:
        result = found.answer(inspection, frame_id, argument)
        return Answer(result.result, rows_below(inspection, result.variables_reference))

    return ask


def _ask(session: AgentSession, thread: threading.Thread, question: Question, number: int) -> Answer:
    answered: Future[Answer] = Future()
    if not session.suspension.post(thread.ident or 0, partial(_answer, session, question, number, answered)):
        raise NotAnswered(f"{thread.name} has gone on.")
    try:
        return answered.result(SECONDS)
    except TimeoutError:
        if answered.done():  # an exception of the question
            raise
        raise NotAnswered(f"{thread.name} has not answered for {SECONDS:.0f} s: it answers the debugger.") from None


def _answer(session: AgentSession, question: Question, number: int, answered: Future[Answer]) -> None:
    """Answer on the stopped thread. What a signal handler raises there is raised again, and ends the stop."""
    if not answered.set_running_or_notify_cancel():
        return
    from dynascope.agent.inspection.values import EvaluationError

    inspection = session.stops.inspection()
    try:
        if inspection is None:
            raise NotAnswered("The thread has gone on.")
        if not 0 <= number < len(inspection.frames):
            raise NotAnswered(f"There is no frame {number} that Dynamo traces: `where` lists them.")
        with collection_postponed():
            answered.set_result(question(inspection, inspection.frames[number].id))
    except EvaluationError as error:
        answered.set_exception(NotAnswered(str(error)))
    except Exception as error:
        answered.set_exception(error)
        if is_of_program(error):
            raise
    except BaseException:
        answered.set_exception(NotAnswered("The stop was interrupted."))
        raise
