"""`graphBreak`: stop before Dynamo breaks a graph, skips a frame or raises; `codegen`: where a graph has ended.

A break is *raised* in the innermost frame, leaves the inlined frames, and is *taken* by the first that can break: only
then is it committed. Dynamo then restarts and breaks before the call, which is no longer inlined. So a committed break
stops in the attempt that raised it, when it is taken, and shows the frames as they were when it was raised: Dynamo has
left them, but does not change them until it restarts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from dynascope.agent.events.codegen import CodegenEvents
from dynascope.agent.events.graph_breaks import LeavingEvents, UnsupportedEvents
from dynascope.agent.exception_filters.filter_source import (
    CompilerEvent,
    FilterSource,
    details_of,
    event_info,
    stack_text,
)
from dynascope.agent.inspection.scopes.codegen import ValueNames
from dynascope.agent.internals.codegen.codegen import EndedGraph, ResumeFunction
from dynascope.agent.internals.codegen.reconstruction import way
from dynascope.agent.internals.compile import exceptions
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.resume import frame_name, line_of_break
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import has_operations
from dynascope.agent.internals.variables.variables import SideEffects
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.tracing.first_time import OncePerCompile
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.explain import stops
from dynascope.explain.details import Effect
from dynascope.explain.graph_breaks import title
from dynascope.explain.stops import breaks, graph_end
from dynascope.facts import break_message
from dynascope.facts.model import BreakEffect
from dynascope.wire.dap import ExceptionInfo


class GraphBreaks(FilterSource, of="graphBreak"):
    """Stop at graph breaks: committed ones, and on request those that Dynamo may still handle."""

    def install(self) -> None:
        self._stacks: WeakKeys[BaseException, list[Translator]] = WeakKeys()
        """The frames being traced when an error was raised, innermost first."""
        self._told: WeakKeys[BaseException, bool] = WeakKeys()
        self._first_told: WeakKeys[BaseException, bool] = WeakKeys()
        """Errors that stopped when raised, and those that repeat the message of one that did."""
        self._raised_reported, self._taken_reported = OncePerCompile(), OncePerCompile()
        failures = self.hook.failures
        self.listen(
            UnsupportedEvents(self._raised, self._taken, failures),
            LeavingEvents(self._leaving, failures),
        )

    def _raised(self, error: BaseException) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            if self._stacks.get(error) is None:
                self._stacks.put(error, stack)
                self._tell_first_chance(state, error, sys.exc_info()[1])

        self.hook.during_instruction(serve)

    def _tell_first_chance(self, state: ThreadState, error: BaseException, handled: BaseException | None) -> None:
        """Stop at an error as it is raised, unless it repeats a reported one with a longer message.

        `handled` is the exception that Dynamo is currently handling.
        """
        again = (
            handled is not None
            and self._first_told.get(handled)
            and exceptions.message_of(handled) in exceptions.message_of(error)
        )
        if again or self._tell_once(state, error, "first chance"):
            self._first_told.put(error, True)

    def _taken(self, effect: BreakEffect, error: BaseException) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            if self._stacks.get(error) is None:
                self._stacks.put(error, stack)
            self._tell_once(state, error, effect)

        self.hook.during_instruction(serve)

    def _leaving(self, error: BaseException) -> None:
        """Stop as the outermost frame is left for an error that Dynamo has not taken but raises."""
        broke: BaseException | None = error
        while broke is not None and self._stacks.get(broke) is None:
            broke = broke.__cause__ or broke.__context__  # of an operator's body, for which another error is raised
        told = broke or error
        if self._told.get(told) or (broke is None and not break_message.explained(exceptions.message_of(error))):
            return

        def serve(state: ThreadState, stack: list[Translator]) -> None:
            if broke is None:  # the frames that it has left are gone (2.14)
                self._stacks.put(told, stack)
            self._tell_once(state, told, "raised")

        self.hook.during_instruction(serve)

    def _tell_once(self, state: ThreadState, error: BaseException, effect: Effect) -> bool:
        """Report a break once for each compile; return whether it stopped."""
        is_first_chance = effect == "first chance"
        if not is_first_chance:
            self._told.put(error, True)
        cause, stack = self._cause_of(error, is_first_chance)
        reported = self._raised_reported if is_first_chance else self._taken_reported
        # the callers are not part of the place: Dynamo may break there, and the next time at their caller
        innermost = stack[0]
        code, index = translators.code_of(innermost), translators.instruction_index(innermost)
        place = id(code), index, exceptions.message_of(cause)
        if not reported.is_new(state, place):
            return False
        has_stopped = self.tell(state, _event(error, cause, stack, effect))
        if has_stopped and not is_first_chance:
            # Dynamo restarts: until it reaches the break, no instruction is new to a step
            state.begin_compile().clock.note_position()
        return has_stopped

    def _cause_of(self, error: BaseException, itself: bool) -> tuple[BaseException, list[Translator]]:
        """Return the first error that led to this one (or `itself`), and the stack it came from.

        Dynamo raises another error where it cannot break at the first, for example in a loop.
        """
        stack = self._stacks.get(error) or []
        before = error.__cause__ or error.__context__
        while not itself and before is not None and (earlier := self._stacks.get(before)) is not None:
            error, stack = before, earlier
            before = error.__cause__ or error.__context__
        return error, stack


def _event(error: BaseException, cause: BaseException, stack: list[Translator], effect: Effect) -> CompilerEvent:
    messages = break_message.parse_all(exceptions.message_of(error))
    first = messages[-1 if effect == "first chance" else 0]
    break_message.note_branch(first, translators.code_of(stack[0]).co_filename, translators.line_of(stack[0]))
    details = details_of(error, exceptions.message_of(error), stack_text(stack))
    if error is not cause:
        details.inner_exception = [details_of(cause, exceptions.message_of(cause))]
    return CompilerEvent(
        info=ExceptionInfo(
            exception_id=f"graph break {first.registry_id or ''}".rstrip(),
            break_mode="always" if effect == "first chance" else "unhandled",
            description=stops.graph_break(
                messages,
                effect,
                not has_operations(translators.output_of(stack[0])),
                line_of_break(translators.code_of(stack[-1])),
            ),
            details=details,
        ),
        title=title(first),
        stack=stack,
        messages=messages,
        error=error,
        first_chance=effect == "first chance",
    )


Item = TypeVar("Item")

_SHOWN = 12
"""Values listed in one line; the scope has all."""


class Codegen(FilterSource, of="codegen"):
    """Stop at the ends of graphs."""

    def install(self) -> None:
        self._reported = OncePerCompile()
        self.listen(CodegenEvents(self._ended, self.hook.failures))

    def _ended(self, ending: EndedGraph) -> None:
        def serve(state: ThreadState, stack: list[Translator]) -> None:
            place = tuple((id(translators.code_of(each)), translators.current_index(each)) for each in stack)
            if self._reported.is_new(state, (place, ending.reason)):
                self.tell(state, _ended_event(ending, stack))

        self.hook.during_instruction(serve)


def _ended_event(ending: EndedGraph, stack: list[Translator]) -> CompilerEvent:
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
    return f"{resume.name}({', '.join(resume.arguments)}) continues in {frame_name(resume.code)}"


def _listed(all: Sequence[Item], text: Callable[[Item], str]) -> str:
    more = f"; … {len(all) - _SHOWN} more" if len(all) > _SHOWN else ""
    return "; ".join(map(text, all[:_SHOWN])) + more
