"""`codegen`: where a graph has ended and Dynamo has generated the code around it, before it leaves the frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dynascope.agent.exception_filters.compiler_event import Fault, stack_text
from dynascope.agent.inspection.values.value_names import ValueNames
from dynascope.agent.internals.codegen.codegen import Ending, Resume
from dynascope.agent.internals.codegen.events import CodegenEvents
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.frames import translators as tracing
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.agent.tracing.hook import Hook
from dynascope.agent.tracing.once_per_compile import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadTracing
from dynascope.facts import break_message
from dynascope.wire.exceptions import ExceptionDetails, ExceptionInfo

Item = TypeVar("Item")

_SHOWN = 12
"""Values told of in one line; the scope has all."""

_RETURNS = "return_value"
_JUMPS = "generic_jump"
_UNCOMPILED = "step_unsupported"


class Codegen:
    """Installed while the filter is on."""

    def __init__(self, hook: Hook, report: Callable[[ThreadTracing, Fault], bool]) -> None:
        self._hook = hook
        self._report = report
        self._once = OncePerCompile()
        self._events = CodegenEvents(lambda act: hook.aside(lambda state: act()), self._ended)

    def remove(self) -> None:
        self._events.remove()

    def _ended(self, ending: Ending) -> None:
        def serve(state: ThreadTracing, stack: list[Translator]) -> None:
            moment = tuple((id(tracing.code_of(each)), tracing.current_index(each)) for each in stack)
            if self._once.is_new(state, (moment, ending.reason)):
                self._report(state, _fault(ending, stack))

        self._hook.amid(serve)


def _fault(ending: Ending, stack: list[Translator]) -> Fault:
    messages = break_message.parse_all(ending.reason) if ending.is_break else []
    title = _title(ending, messages)
    lines = [title, *map(break_message.prose, messages), *_told(ending)]
    description = "\n".join(lines)
    told = ExceptionDetails(
        message=description, type_name="codegen", full_type_name="codegen", stack_trace=stack_text(stack)
    )
    return Fault(
        info=ExceptionInfo(exception_id="codegen", break_mode="always", description=description, details=told),
        title=title,
        stack=stack,
        ids=frozenset(each.registry_id for each in messages if each.registry_id is not None),
    )


def _title(ending: Ending, messages: list[break_message.BreakMessage]) -> str:
    why = "at the return" if ending.reason == _RETURNS else "here"
    if ending.reason.startswith(_JUMPS):
        why = "at a jump that depends on data"
    elif messages and ending.reason != _UNCOMPILED:
        why = f"at a graph break ({messages[-1].registry_id or messages[-1].type})"
    outputs, values = len(ending.outputs()), sum(1 for frame in ending.frames for _ in frame.values())
    what = _count(outputs, "output") if ending.graph_name is not None else "no graph to call"
    return f"The graph ends {why}: {what}, {_count(values, 'value')} to restore{_then(ending)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _then(ending: Ending) -> str:
    names = [each.name for each in ending.resumes]
    if names and ending.reason.startswith(_JUMPS):  # both ways, each with the frames that called this one
        half = len(names) // 2
        return f", then {', '.join(names[:half])} or {', '.join(names[half:])}"
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
        "Then": _listed(ending.resumes, _goes_on),
    }
    return [f"{heading}: {text}" for heading, text in parts.items() if text]


def _goes_on(resume: Resume) -> str:
    return f"{resume.name}({', '.join(resume.arguments)}) goes on in {original_code(resume.code).co_name}"


def _listed(all: Sequence[Item], text: Callable[[Item], str]) -> str:
    more = f"; … {len(all) - _SHOWN} more" if len(all) > _SHOWN else ""
    return "; ".join(map(text, all[:_SHOWN])) + more
