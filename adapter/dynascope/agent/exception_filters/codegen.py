"""`codegen`: stop where a graph has ended and its code is generated, still in the frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dynascope.agent.events.codegen import CodegenEvents
from dynascope.agent.exception_filters.compiler_event import CompilerEvent, event_info
from dynascope.agent.exception_filters.filter_source import FilterSource
from dynascope.agent.inspection.values.value_names import ValueNames
from dynascope.agent.internals.codegen.codegen import Ending, Resume
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts import break_message

Item = TypeVar("Item")

_SHOWN = 12
"""Values listed in one line; the scope has all."""

_RETURNS = "return_value"
_JUMPS = "generic_jump"
_UNCOMPILED = "step_unsupported"


class Codegen(FilterSource):
    """Stop at the ends of graphs."""

    def install(self) -> None:
        self._reported = OncePerCompile()
        self.listen(CodegenEvents(self._ended, self.hook.failures))

    def _ended(self, ending: Ending) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.current_index(each)) for each in stack)
            if self._reported.is_new(state, (place, ending.reason)):
                self.tell(state, _event(ending, stack))

        self.hook.during_instruction(serve)


def _event(ending: Ending, stack: list[Translator]) -> CompilerEvent:
    messages = break_message.parse_all(ending.reason) if ending.is_break else []
    title = _title(ending, messages)
    lines = [title, *filter(None, [break_message.prose(messages)]), *_told(ending)]
    return CompilerEvent(
        info=event_info("codegen", "\n".join(lines), stack),
        title=title,
        stack=stack,
        ids=frozenset(each.registry_id for each in messages if each.registry_id is not None),
    )


def _title(ending: Ending, messages: list[break_message.BreakMessage]) -> str:
    why = "at the return" if ending.reason == _RETURNS else "here"
    if ending.reason.startswith(_JUMPS):
        why = "at a jump that depends on data"
    elif messages and ending.reason != _UNCOMPILED:
        why = f"at a graph break ({messages[0].registry_id or messages[0].type})"
    outputs, values = len(ending.outputs()), sum(1 for frame in ending.frames for _ in frame.values())
    what = _count(outputs, "output") if ending.graph_name is not None else "no graph to call"
    return f"The graph ends {why}: {what}, {_count(values, 'value')} to restore{_then(ending)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _then(ending: Ending) -> str:
    names = [resume.name for resume in ending.resumes]
    if names and ending.reason.startswith(_JUMPS):  # both branches, each with the frames that called this one
        middle = len(names) // 2
        return f", then {', '.join(names[:middle])} or {', '.join(names[middle:])}"
    if names:
        return f", then {', '.join(names)}"
    return ", then the rest runs uncompiled" if ending.reason == _UNCOMPILED else ""


def _told(ending: Ending) -> list[str]:
    names, effects = ValueNames(ending), SideEffects(ending.output)
    values = [each for frame in ending.frames for each in frame.values()]
    parts = {
        "Outputs of the graph": _listed(ending.outputs(), lambda each: names.of(each) or "?"),
        "Restored": _listed(values, lambda each: f"{each[0]} = {way(each[1], effects).text}"),
        "Changes that are replayed": _listed(ending.replayed(), lambda each: names.of(each.subject) or "?"),
        "Then": _listed(ending.resumes, _continuation),
    }
    return [f"{heading}: {text}" for heading, text in parts.items() if text]


def _continuation(resume: Resume) -> str:
    return f"{resume.name}({', '.join(resume.arguments)}) continues in {original_code(resume.code).co_name}"


def _listed(all: Sequence[Item], text: Callable[[Item], str]) -> str:
    more = f"; … {len(all) - _SHOWN} more" if len(all) > _SHOWN else ""
    return "; ".join(map(text, all[:_SHOWN])) + more
