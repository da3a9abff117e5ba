"""`divergence`: stop a rank that has compiled other collectives than other ranks, before it calls them."""

from __future__ import annotations

from threading import get_ident
from typing import Any

from dynascope.agent.events.torch_names import CALL_OF_CALLBACK
from dynascope.agent.events.wrapping import Events
from dynascope.agent.exception_filters.filter_source import CompilerEvent, FilterSource, event_info
from dynascope.agent.program.user_code import real_path
from dynascope.agent.ranks.parted import PartedRanks
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.explain import stops
from dynascope.explain.divergences import divergence_problem
from dynascope.explain.kinds import FILTERS
from dynascope.facts.model import Divergence


class Divergences(FilterSource, TraceObserver, of="divergence"):
    """Stop where the compiled function is called: it is compiled, recorded and compared, and has not run yet."""

    def install(self) -> None:
        self._found: dict[int, tuple[Divergence, bool]] = {}
        """The divergence of the compile in progress, and whether it is of this rank, by thread ident."""
        self._frames: dict[int, Any] = {}
        """The frame of that compile, as Dynamo passes it to its callback, by thread ident."""
        events = Events(self.hook.failures)
        events.call_around(CALL_OF_CALLBACK, lambda callback, frame, *state: frame, self._compiled)
        self.listen(events, PartedRanks(self._parts))
        self.hook.compiles.observe(self)  # after the histories: Step Back leads into the compile

    def remove(self) -> None:
        self.hook.compiles.unobserve(self)
        super().remove()

    def _parts(self, fact: Divergence, is_own: bool) -> None:
        state = self.hook.threads.existing()
        if state is None or not state.is_stopped:  # not what the debug console compiles
            self._found[get_ident()] = fact, is_own

    def _compiled(self, frame: Any, result: object, error: BaseException | None) -> None:
        if get_ident() in self._found:
            self._frames[get_ident()] = frame

    def compile_ended(self, outcome: CompileOutcome) -> None:
        found, frame = self._found.pop(get_ident(), None), self._frames.pop(get_ident(), None)
        if found is not None and frame is not None:
            event = self._event(*found, frame)
            self.hook.outside_trace(lambda state: self.tell(state, event))

    def _event(self, fact: Divergence, is_own: bool, frame: Any) -> CompilerEvent:
        problem = divergence_problem(fact)
        goes_back = is_own and self.hook.histories.are_recorded
        text = "\n".join([problem.title, *stops.parted(problem, goes_back)])
        lines = [(real_path(each.path), each.line) for each in fact.stack]
        info = event_info(FILTERS[self.filter_id].noun, text, [])
        return CompilerEvent(info, problem.title, skipped_frame=frame, is_compiled=True, decided_at=lines)
