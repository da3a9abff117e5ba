"""`codegen`: stop where a graph has ended and its code is generated, still in the frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dynascope.agent.events.codegen import CodegenEvents
from dynascope.agent.exception_filters.filter_source import CompilerEvent, FilterSource, event_info
from dynascope.agent.inspection.scopes.codegen import ValueNames
from dynascope.agent.internals.codegen.codegen import EndedGraph, ResumeFunction
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.variables.variables import SideEffects
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain.stops import breaks, graph_end
from dynascope.facts import break_message

Item = TypeVar("Item")

_SHOWN = 12
"""Values listed in one line; the scope has all."""


class Codegen(FilterSource):
    """Stop at the ends of graphs."""

    def install(self) -> None:
        self._reported = OncePerCompile()
        self.listen(CodegenEvents(self._ended, self.hook.failures))

    def _ended(self, ending: EndedGraph) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.current_index(each)) for each in stack)
            if self._reported.is_new(state, (place, ending.reason)):
                self.tell(state, _event(ending, stack))

        self.hook.during_instruction(serve)


def _event(ending: EndedGraph, stack: list[Translator]) -> CompilerEvent:
    messages = break_message.parse_all(ending.reason) if ending.is_break else []
    values, names = sum(1 for frame in ending.frames for _ in frame.values()), [each.name for each in ending.resumes]
    outputs = len(ending.outputs()) if ending.graph_name is not None else None
    title = graph_end(ending.reason, messages, outputs, values, names)
    lines = [title, *filter(None, [breaks(messages)]), *_told(ending)]
    return CompilerEvent(event_info("codegen", "\n".join(lines), stack), title, stack, messages=messages)


def _told(ending: EndedGraph) -> list[str]:
    names, effects = ValueNames(ending), SideEffects(ending.output)
    values = [each for frame in ending.frames for each in frame.values()]
    parts = {
        "Outputs of the graph": _listed(ending.outputs(), lambda each: names.of(each) or "?"),
        "Restored": _listed(values, lambda each: f"{each[0]} = {way(each[1], effects).text}"),
        "Changes that are replayed": _listed(ending.replayed(), lambda each: names.of(each.subject) or "?"),
        "Then": _listed(ending.resumes, _continuation),
    }
    return [f"{heading}: {text}" for heading, text in parts.items() if text]


def _continuation(resume: ResumeFunction) -> str:
    return f"{resume.name}({', '.join(resume.arguments)}) continues in {original_code(resume.code).co_name}"


def _listed(all: Sequence[Item], text: Callable[[Item], str]) -> str:
    more = f"; … {len(all) - _SHOWN} more" if len(all) > _SHOWN else ""
    return "; ".join(map(text, all[:_SHOWN])) + more
