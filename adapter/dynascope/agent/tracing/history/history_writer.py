"""Write the history of an attempt while Dynamo traces it. Used on the compiling thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.frames import new_values, translators
from dynascope.agent.internals.frames.frame_state import unused_arguments
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.hook_failures import HookFailures, contained
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.agent.internals.variables.variables import (
    holds,
    is_container,
    may_change,
    node_of,
    source_of,
    without_lazy,
)
from dynascope.agent.tracing.history.attempt_history import (
    NO_FRAME,
    NO_TEXT,
    UNBOUND,
    AttemptHistory,
    Segment,
    Value,
)
from dynascope.agent.tracing.history.growth_writer import GrowthWriter
from dynascope.agent.tracing.history.traced_frames import Functions, TracedFrame
from dynascope.agent.tracing.history.value_numbers import ValueNumbers
from dynascope.agent.tracing.stepping import FrameId
from dynascope.agent.tracing.trail import Position, Trail


class HistoryWriter:
    """Write one attempt's history."""

    def __init__(self, name: str, trail: Trail, outermost: Translator, failures: HookFailures) -> None:
        self.history = AttemptHistory(name)
        self.values = ValueNumbers(self.history.made)
        self.segment_at: dict[Position, Segment] = {}
        """The segment that began at each stop."""
        output = translators.output_of(outermost)
        self._trail = trail
        self.failures = failures
        self.growth = GrowthWriter(self.history, output)
        self._output = output
        self._options = ViewOptions(SideEffects(output))
        self._functions = Functions()
        self._stack: list[TracedFrame] = []
        self._paused: dict[FrameId, TracedFrame] = {}
        self._has_paused = False
        """Whether Dynamo has left a generator, whose text tells its line, since names were last looked at."""
        self._segment: Segment = -1
        self._changed: list[tuple[object, str | None]] = []

    @property
    def frames(self) -> frozenset[FrameId]:
        """Return the frames being traced."""
        return frozenset(frame.number for frame in self._stack)

    # ---- what happens

    def frame_entered(self, number: FrameId, translator: Translator) -> Callable[[int], None] | None:
        """Record that Dynamo enters or resumes a frame; return its `watcher`."""
        self._close()
        frame = self._paused.pop(number, None) or TracedFrame(number, translator, self._trail.position + 1)
        if self._stack and not frame.names:
            for argument in new_values.bound_names(translator).values():
                self.values.of(argument)  # made by the line that calls
        self.history.functions[number] = self._functions.of(translators.code_of(translator))
        self._stack.append(frame)
        self._open()
        if len(self._stack) == 1:
            self._note_unused_arguments(frame)
        return self.watcher(translator)

    def frame_left(self) -> None:
        """Record that Dynamo leaves the innermost frame."""
        self._close()
        if self._stack:
            frame = self._stack.pop()
            if frame.pauses:
                self._paused[frame.number] = frame
                self._has_paused = True
        self._open()

    def watcher(self, translator: Translator) -> Callable[[int], None] | None:
        """Return a function to call with the line before each instruction of this frame.

        None for a frame that Dynamo has left meanwhile: this is called on any thread.
        """
        frame = next((frame for frame in reversed(self._stack) if frame.translator is translator), None)
        if frame is None:
            return None

        def constant_appeared(variable: object) -> None:
            name = new_values.origin_of_constant(translator)  # which tells equal constants apart
            if name == "":
                self.values.constant_loaded(variable, None)
            elif name in frame.values:
                self.values.constant_loaded(variable, frame.values[name])

        def line_begins(line: int) -> None:
            if line != frame.line:
                self._close()
                frame.line, frame.began = line, self._trail.position
                self._open()

        values = self.values
        return new_values.watcher(
            translator,
            values.by_identity,
            values.constants,
            values.appeared,
            constant_appeared,
            line_begins,
            self.failures,
        )

    def changed(self, variable: object, attribute: str | None) -> None:
        """Record that a value changes, or its attribute; how is read where the segment ends."""
        self._changed.append((variable, attribute))

    @contained
    def until_now(self, stops: bool = False) -> None:
        """Record everything up to here; `stops`: the thread stops here, not at the end of a step."""
        self._close()
        if stops and self._stack:
            self.history.stops.append(self._stack[-1].began)
        self._open()
        self.segment_at[self._trail.position] = self._segment

    # ---- segments

    def _open(self) -> None:
        if self._stack:
            frame = self._stack[-1]
            self._segment = self.values.segment = len(self.history.segments)
            caller = self._stack[-2].number if len(self._stack) > 1 else NO_FRAME
            self.history.segments.add(frame.began, frame.number, frame.line, caller)

    def _close(self) -> None:
        if not self._stack:
            return
        self._options.effects = SideEffects(self._output)  # Dynamo puts a copy in its place while it speculates
        with torch._C.DisableTorchFunction():
            self._note_names(self._stack[-1])
            if self._changed:
                self._note_changes()
            for frame in self._stack:
                if frame.unread:
                    self._note_texts(frame, frame.unread)
            if self._has_paused:
                self._has_paused = False
                self._note_generators()
        if self.growth.write(self._segment):
            for frame in self._stack:
                self._note_texts(frame, frame.texts)

    def _note_names(self, frame: TracedFrame) -> None:
        now, before = new_values.bound_names(frame.translator), frame.names
        for name, bound in now.items():
            known = before.get(name)
            if known is not bound:
                before[name] = bound
                if known is not None and _is_same(known, bound):
                    continue
                if new_values.is_cell(bound):
                    bound = frame.in_cells[name] = self._in_cell(bound)
                if bound is not None or known is not None:
                    self._bind(frame, name, bound)
        if len(before) != len(now):
            for name in before.keys() - now.keys():
                del before[name]
                self._bind(frame, name, None)

    def _note_unused_arguments(self, frame: TracedFrame) -> None:
        """Record the arguments that Dynamo does not track before it reads them (2.14)."""
        number = self.history.texts.number
        with torch._C.DisableTorchFunction():
            for name, value in unused_arguments(frame.translator).items():
                text = number(value_text(value, self._options, 0))
                self.history.rewritten.add(self._segment, frame.number, number(name), text)

    def _bind(self, frame: TracedFrame, name: str, variable: object | None) -> None:
        number = self.history.texts.number
        value, text, source = UNBOUND, number(""), -1
        if variable is not None:
            realised, _ = without_lazy(variable)
            value = self.values.of(variable)
            text = self.values.texts.get(value, -1)
            if text < 0:
                text = self._written(variable)
                if realised is not None:  # the text of a lazy one changes when Dynamo reads it
                    self.values.texts[value] = text
                    self.values.has_other_contents(variable)
            if realised is not None:
                self.growth.value_of[node_of(realised)] = value
            written = source_of(variable)
            source = number(written) if written is not None else -1
            varies = realised is None or new_values.is_iterator(realised)
            (frame.unread.add if varies else frame.unread.discard)(name)
            frame.values[name], frame.texts[name] = value, text
        else:
            frame.unread.discard(name)
            frame.texts.pop(name, None)
        self.history.bindings.add(self._segment, frame.number, number(name), value, text, source)
        if new_values.is_unset(variable):
            self.history.rewritten.add(self._segment, frame.number, number(name), NO_TEXT)

    def _in_cell(self, cell: object) -> object | None:
        """Return what a cell holds; None while it is empty."""
        assert self._options.effects is not None
        held = self._options.effects.cell_contents(cell)
        return None if held is None or new_values.is_unset(held) else held

    def _note_texts(self, frame: TracedFrame, names: Iterable[str]) -> None:
        """Record the texts of these names that are others than before."""
        for name in list(names):
            variable = frame.in_cells.get(name, frame.names[name])
            text = self._written(variable)
            if not _text_varies(variable):
                frame.unread.discard(name)
            if text != frame.texts[name]:
                self._rewrite(frame, name, text)

    def _note_generators(self) -> None:
        for frame in self._stack:
            self._note_texts(frame, [name for name in frame.texts if new_values.is_generator(frame.names[name])])

    def _rewrite(self, frame: TracedFrame, name: str, text: int) -> None:
        frame.texts[name] = text
        self.history.rewritten.add(self._segment, frame.number, self.history.texts.number(name), text)

    def _note_changes(self) -> None:
        """Record the values that have changed, those that hold them, and containers' texts."""
        variables = {id(variable): variable for variable, _ in self._changed}
        others = {each for each, variable in variables.items() if self.values.has_other_contents(variable)}
        named = self._changeable_values()
        values = {value: variable for value, (variable, _) in named.items() if holds(variable, variables)}
        reaches_all = not all(map(_changes_alone, variables.values()))
        for variable, attribute in self._changed:
            if attribute is None:
                values[self.values.of(variable)] = variable
            elif not new_values.is_cell(variable):
                self._note_attribute(self.values.of(variable), variable, attribute)
        self._changed.clear()
        texts = {value: self._written(variable) for value, variable in values.items()}
        for value, text in texts.items():
            before, variable = self.values.texts.get(value), values[value]
            is_other = "…" in self.history.texts.all[text] or id(variable) in others or holds(variable, others)
            if not is_other and (before == text or (before is None and is_container(variable))):
                continue  # Dynamo says so also where a constructor fills it, with nothing as well
            self.values.texts[value] = text
            self.history.changes.add(self._segment, value, text)
        for value, (variable, names) in named.items():
            if (value in texts or reaches_all) and is_container(variable):
                text = texts[value] if value in texts else self._written(variable)
                for frame, name in names:
                    if text != frame.texts[name]:
                        self._rewrite(frame, name, text)

    def _changeable_values(self) -> dict[Value, tuple[object, list[tuple[TracedFrame, str]]]]:
        """Return the values that can change, each with its names.

        Bind the names whose cells have changed.
        """
        values: dict[Value, tuple[object, list[tuple[TracedFrame, str]]]] = {}
        for frame in self._stack:
            for name, bound in frame.names.items():
                variable: object | None = bound
                if new_values.is_cell(bound):
                    variable = self._in_cell(bound)
                    if variable is not frame.in_cells.get(name):
                        frame.in_cells[name] = variable
                        self._bind(frame, name, variable)
                if variable is not None and may_change(variable):
                    values.setdefault(self.values.of(variable), (variable, []))[1].append((frame, name))
        return values

    def _note_attribute(self, value: Value, variable: object, attribute: str) -> None:
        assert self._options.effects is not None
        now = self._options.effects.pending_attributes(variable).get(attribute)
        text = f".{attribute} = {variable_text(self._options, now, 1)}" if now is not None else f"del .{attribute}"
        self.history.changes.add(self._segment, value, self.history.texts.number(text))

    def _written(self, variable: Any) -> int:
        return self.history.texts.number(variable_text(self._options, variable, 0))


def _text_varies(variable: object) -> bool:
    """Whether its text may change without a mutation event: it is lazy, or an iterator."""
    realised, _ = without_lazy(variable)
    return realised is None or new_values.is_iterator(realised)


def _changes_alone(variable: object) -> bool:
    """Whether no other's text changes with it, but of what holds it in a container."""
    return new_values.is_cell(variable) or new_values.is_iterator(variable)


def _is_same(before: object, now: object) -> bool:
    """Whether Dynamo has only put a variable in place of the lazy one for it."""
    variable, _ = without_lazy(now)
    return variable is not None and variable is without_lazy(before)[0]
