"""Record what torch compiles for a compile that has ended: its backward, kernels, and the forms of its graphs."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from dynascope.agent.events.named_forms import NamedForms
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.code import CodeLine, graphs_of, value_of_aot
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.user_code import is_users, package_of_file, path_of_file
from dynascope.agent.recorder.profile_writer import ProfileWriter
from dynascope.agent.recorder.shown_compile import ShownCompile
from dynascope.facts import model, user_stack
from dynascope.facts.generated.model import CODE_KEPT, LaterForm
from dynascope.facts.in_progress import Board, CompileInProgress
from dynascope.facts.model import CudaGraphsSkipped
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Later

_SKIPPING = re.compile(r"^(?:skipping|disabling) cudagraphs?(?: due to)? ")
_KEPT = 200
"""For each compile: kernels that are tuned at run time may be many."""


WriteLater = Callable[[str, Later], object]
"""Stores what belongs to the compile with this id, which has ended."""


class LaterPhases:
    """The outermost phases of each thread that are part of no compile in progress."""

    def __init__(self, write: WriteLater, board: Board) -> None:
        self._write = write
        self._board = board
        self._ended: dict[str, model.Compile] = {}
        self._told: set[tuple[str, str]] = set()
        self._counts: dict[str, int] = {}
        """How many were written of each compile that has ended."""
        self._in_progress: dict[int, tuple[str, ProfileWriter, ShownCompile]] = {}

    def compile_ended(self, compile: model.Compile) -> None:
        """Write the later phases of this compile from now on."""
        self._counts[compile.compile_id] = 0
        self._told = {told for told in self._told if told[0] != compile.compile_id}  # Dynamo was reset
        self._ended[compile.compile_id] = compile

    def cuda_graphs_skipped(self, compile_id: str, fact: CudaGraphsSkipped) -> None:
        """Write why a graph of a compile that has ended runs without CUDA graphs.

        Each reason is written once: torch may say it at each call.
        """
        about = self._ended.get(compile_id)
        if about is None or (compile_id, fact.reason) in self._told:
            return
        self._told.add((compile_id, fact.reason))
        if not fact.path:
            fact.path, fact.line = about.path, about.line
        self._write(compile_id, fact)

    def shown_on(self, thread: int) -> ShownCompile | None:
        """Return what is in progress on a thread."""
        return self._in_progress.get(thread, (None, None, None))[2]

    def phase_begins(self, name: str, compile_id: str | None) -> None:
        """Begin a phase on this thread; one that belongs to no compile that has ended is ignored."""
        thread = threading.get_ident()
        if thread not in self._in_progress:
            if compile_id is None or self._counts.get(compile_id, _KEPT) >= _KEPT:
                return
            self._counts[compile_id] += 1
            clock = this_threads_clock()
            about = self._ended[compile_id]
            later = CompileInProgress(
                compile_id, about.function, about.path, about.line, about.resumes_at, is_later=True
            )
            shown = ShownCompile(self._board.slot(), clock, later)
            self._in_progress[thread] = compile_id, ProfileWriter(clock.now, shown), shown
        self._in_progress[thread][1].phase_begins(name)

    def phase_ends(self, name: str) -> None:
        """End a phase on this thread; the end of the outermost writes the profile."""
        thread = threading.get_ident()
        compile_id, profile, shown = self._in_progress.get(thread, ("", None, None))
        if profile is not None and shown is not None and profile.phase_ends(name):
            del self._in_progress[thread]
            shown.ends()
            self._write(compile_id, profile.profile())


def cuda_graphs_skipped(text: str) -> CudaGraphsSkipped:
    """Return torch's reason, with the line and stack that the text names, if any."""
    reason, _, found = text.partition("Found from")
    logged = [UserFrame(path_of_file(each.path), each.line, each.function) for each in user_stack.logged_stack(found)]
    at = user_stack.innermost(logged) or UserFrame("", 0, "")
    told = _SKIPPING.sub("", reason).strip(" .\n")
    return CudaGraphsSkipped(reason=told, path=at.path, line=at.line, stack=user_stack.tidy_stack(logged))


def recorded_forms(made: Callable[[str, LaterForm], None]) -> NamedForms:
    """Return an observer that tells `made` each form and the id of its compile."""

    def graph(name: str, heading: str, module: Any) -> None:
        if (compile_id := _compile_id()) is not None:
            made(compile_id, LaterForm(name, heading, graphs_of(module, package_of_file, path_of_file, value_of_aot)))

    def text(name: str, heading: str, lines: Iterable[CodeLine]) -> None:
        if (compile_id := _compile_id()) is not None:
            whole = "\n".join(line.text for line in lines)
            form = LaterForm(name, heading, text=whole[:CODE_KEPT], left_out=max(0, len(whole) - CODE_KEPT))
            made(compile_id, form)

    return NamedForms(is_users, graph, text)


def _compile_id() -> str | None:
    """Return the id of the compile in progress, or of that whose backward is compiled, if any."""
    compile_id, _ = compile_id_and_attempt()
    return None if compile_id == "?" else compile_id
