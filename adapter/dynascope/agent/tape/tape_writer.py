"""Write the values of an attempt too, which a debugger shows: what names are, and what changes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from dynascope.agent.events import frames as new_values
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.inspection.values.text import value_text
from dynascope.agent.internals.compile.growth import SymbolDecision
from dynascope.agent.internals.frames.frame_state import unused_arguments
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import changed_arguments, node_text
from dynascope.agent.internals.variables.reach import reach
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    is_container,
    node_of,
    read_meanwhile,
    source_of,
    unread_cache,
    without_lazy,
)
from dynascope.agent.tape.change_writer import ChangeWriter
from dynascope.agent.tape.instructions import FrameId, Position, TracedInstructions
from dynascope.agent.tape.line_writer import LineWriter, TapedFrame
from dynascope.agent.tape.tape import (
    NO_FRAME,
    NO_TEXT,
    UNBOUND,
    Segment,
    Value,
)
from dynascope.agent.tape.value_numbers import ValueNumbers

_FOLLOWED = 20
"""The most values in a container for which the text of the container is written again when Dynamo reads one."""


class TapeWriter(LineWriter):
    """Write one attempt's tape with values."""

    def __init__(self, name: str, traced: TracedInstructions, outermost: Translator, failures: HookFailures) -> None:
        super().__init__(outermost, name)
        self.values = ValueNumbers(self.tape.made)
        self.segment_at: dict[Position, Segment] = {}
        """The segment that began at each stop."""
        self.traced = self._traced = traced
        self.failures = failures
        self._value_of: dict[Any, Value] = {}
        """The value that each node yields, once a name stands for it."""
        self._options = ViewOptions(SideEffects(self.output))
        self._paused: dict[int, TapedFrame] = {}
        """The generators that Dynamo has left, by the identity of their translators."""
        self._has_paused = False
        """Whether Dynamo has left a generator, whose text tells its line, since names were last looked at."""
        self._changes = ChangeWriter(self.tape, self.values, self._options)

    @property
    def frames(self) -> frozenset[FrameId]:
        """Return the frames being traced."""
        return frozenset(frame.number for frame in self.stack)

    def number_of(self, translator: Translator) -> FrameId:
        """Return the number of a frame being traced; NO_FRAME for another."""
        return next((frame.number for frame in self.stack if frame.translator is translator), NO_FRAME)

    # ---- what happens

    def enter(self, translator: Translator) -> TapedFrame:
        frame = self._paused.pop(id(translator), None)
        if frame is None:
            frame = super().enter(translator)
            frame.began = self._traced.position + 1  # its first instruction comes next
        if self.stack and not frame.names:
            for argument in new_values.bound_names(translator).values():
                self.values.of(argument)  # made by the line that calls
        for name in frame.texts:  # of a generator that is resumed
            self._note_kind(frame, name, frame.variable(name))
        return frame

    def leave(self, frame: TapedFrame) -> None:
        for name in frame.texts:
            self._changes.changeable.unbind(frame, name)
        if frame.pauses:
            self._paused[id(frame.translator)] = frame
            self._has_paused = True

    def watcher(self, translator: Translator) -> Callable[[int], None] | None:
        """Return a function to call with the line before each instruction of this frame.

        None for a frame that Dynamo has left meanwhile: this is called on any thread.
        """
        frame = next((frame for frame in reversed(self.stack) if frame.translator is translator), None)
        if frame is None:
            return None

        def constant_appeared(variable: object) -> None:
            name = new_values.origin_of_constant(translator)  # which tells equal constants apart
            if name == "":
                self.values.constant_loaded(variable, None)
            elif name in frame.values:
                self.values.constant_loaded(variable, frame.values[name])

        values = self.values
        return new_values.watcher(
            translator,
            values.by_identity,
            values.constants,
            values.appeared,
            constant_appeared,
            functools.partial(self.line_begins, translator),
            self.failures,
        )

    def changed(self, variable: object, attribute: str | None) -> None:
        """Record that a value changes, or its attribute; how is read where the segment ends."""
        self._changes.changed(variable, attribute)

    @contained
    def until_now(self, stops: bool = False) -> None:
        """Record everything up to here; `stops`: the thread stops here, not at the end of a step."""
        self.close()
        if stops and self.stack:
            self.tape.stops.append(self.stack[-1].began)
        self.open()
        self.segment_at[self._traced.position] = self.segment

    # ---- segments

    def open(self) -> None:
        super().open()
        self.values.segment = self.segment
        if self.segment == 0 and self.stack:
            self._note_unused_arguments(self.stack[0])

    def close(self) -> None:
        if not self.stack:
            return
        with self.failures:  # the recording may be the one that tells of the line
            self._write_values()
        if any(decision.replaces for decision in self.grow()):
            for frame in self.stack:
                self._note_texts(frame, frame.texts)

    def _write_values(self) -> None:
        self.values.number_appeared()
        self._options.effects = SideEffects(self.output)  # Dynamo puts a copy in its place while it speculates
        with torch._C.DisableTorchFunction():
            self._note_names(self.stack[-1])
            read = [(each, names) for each in self.stack if each.unread and (names := self._read_meanwhile(each))]
            if self._changes.any():
                if self._changes.any_cell():
                    self._bind_changed_cells()
                self._changes.write(self.segment)
            for frame, names in read:
                self._note_texts(frame, names)
            if self._has_paused:
                self._has_paused = False
                self._note_generators()

    def grow(self) -> list[SymbolDecision]:
        tape, number = self.tape, self.tape.texts.number
        for source, kind in self.growth.guards():
            tape.guards.add(self.segment, number(source), number(kind))
        for what, text in self.growth.context():
            tape.context.add(self.segment, number(what), number(text))
        self._signs = ()  # a node may be in the place of another
        return super().grow()

    def write_node(self, node: Any, text: int = NO_TEXT) -> None:
        text = self.tape.texts.number(node_text(node))
        super().write_node(node, text)
        for each in changed_arguments(node):
            changed = self._value_of.get(each)
            if changed is not None:
                self.tape.changes.add(self.segment, changed, text)

    def _note_names(self, frame: TapedFrame) -> None:
        now, before = new_values.bound_names(frame.translator), frame.names
        for name, bound in now.items():
            known = before.get(name)
            if known is not bound:
                before[name] = bound
                if known is not None and _is_same(known, bound):
                    continue
                frame.in_cells.pop(name, None)
                if new_values.is_cell(bound):
                    bound = frame.in_cells[name] = self._in_cell(bound)
                if bound is not None or known is not None:
                    self._bind(frame, name, bound)
        if len(before) != len(now):
            for name in before.keys() - now.keys():
                del before[name]
                frame.in_cells.pop(name, None)
                self._bind(frame, name, None)

    def _note_unused_arguments(self, frame: TapedFrame) -> None:
        """Record the arguments that Dynamo does not track before it reads them (2.14)."""
        number = self.tape.texts.number
        with torch._C.DisableTorchFunction():
            for name, value in unused_arguments(frame.translator).items():
                text = number(value_text(value, self._options, 0))
                self.tape.rewritten.add(self.segment, frame.number, number(name), text)

    def _bind(self, frame: TapedFrame, name: str, variable: object | None) -> None:
        number = self.tape.texts.number
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
                self._value_of[node_of(realised)] = value
            written = source_of(variable)
            source = number(written) if written is not None else -1
            frame.values[name], frame.texts[name] = value, text
            self._note_kind(frame, name, variable)
        else:
            frame.unread.pop(name, None)
            frame.texts.pop(name, None)
            self._changes.changeable.unbind(frame, name)
        self.tape.bindings.add(self.segment, frame.number, number(name), value, text, source)
        if new_values.is_unset(variable):
            self.tape.rewritten.add(self.segment, frame.number, number(name), NO_TEXT)

    def _in_cell(self, cell: object) -> object | None:
        """Return what a cell holds; None while it is empty."""
        assert self._options.effects is not None
        held = self._options.effects.cell_contents(cell)
        return None if held is None or new_values.is_unset(held) else held

    def _note_texts(self, frame: TapedFrame, names: Iterable[str]) -> None:
        """Record the texts of these names that are others than before."""
        for name in list(names):
            text = self._written(frame.variable(name))
            if text != frame.texts[name]:
                if frame.values[name] in self.values.texts:
                    self.values.texts[frame.values[name]] = text
                frame.rewrite(self.tape, self.segment, name, text)

    def _read_meanwhile(self, frame: TapedFrame) -> list[str]:
        """Return the names whose lazy variables Dynamo has read, and those of iterators."""
        names = read_meanwhile(frame.unread)
        for name in names:
            self._note_kind(frame, name, frame.variable(name))
        return names

    def _note_kind(self, frame: TapedFrame, name: str, variable: object) -> None:
        """Note how a name's text may change: without a mutation event, or with one."""
        realised, _ = without_lazy(variable)
        if realised is None:
            frame.unread[name] = unread_cache(variable)
        elif new_values.moves_unnoticed(realised):
            frame.unread[name] = None
        elif is_container(realised) and 0 < len((inside := reach(realised)).unread) <= _FOLLOWED:
            frame.unread[name] = inside
        else:
            frame.unread.pop(name, None)
        self._changes.changeable.bind(frame, name, self.values.of(variable), variable)

    def _note_generators(self) -> None:
        for frame in self.stack:
            self._note_texts(frame, [name for name in frame.texts if new_values.is_generator(frame.names[name])])

    def _bind_changed_cells(self) -> None:
        """Bind the names whose cells hold other variables now."""
        for frame in self.stack:
            for name, before in list(frame.in_cells.items()):
                variable = self._in_cell(frame.names[name])
                if variable is not before:
                    frame.in_cells[name] = variable
                    self._bind(frame, name, variable)

    def _written(self, variable: Any) -> int:
        return self.tape.texts.number(variable_text(self._options, variable, 0))


def _is_same(before: object, now: object) -> bool:
    """Whether Dynamo has only put a variable in place of the lazy one for it."""
    variable, _ = without_lazy(now)
    return variable is not None and variable is without_lazy(before)[0]
