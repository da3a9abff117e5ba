"""Write the history of an attempt while Dynamo traces it. Used on the compiling thread."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.internals.compile.growth import Growth
from dynascope.agent.internals.frames import new_values, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import changes_its_argument, node_text
from dynascope.agent.internals.hook_failures import HookFailures, contained
from dynascope.agent.internals.variables.side_effects import SideEffects
from dynascope.agent.internals.variables.variables import holds, is_mutable, node_of, source_of, without_lazy
from dynascope.agent.tracing.history.attempt_history import UNBOUND, AttemptHistory, Segment, Value
from dynascope.agent.tracing.stepping import FrameId
from dynascope.agent.tracing.trail import Position, Trail

_FORGET_FROM = 2000
"""The number of values kept alive from which those are forgotten that Dynamo has dropped."""
_OWN_REFERENCES = 4
"""To a value, in `_forget_dropped`: the dict's, the list's, the loop's and that of the call of `getrefcount`."""
_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Frame:
    """A frame being traced: the names it had when last seen, and the line that it is at."""

    def __init__(self, number: FrameId, translator: Translator, began: Position) -> None:
        self.number = number
        self.translator = translator
        self.line = translators.line_of(translator)
        self.began = began
        self.names: dict[str, object] = {}
        self.in_cells: dict[str, object | None] = {}
        """The variable in the cell of each name that has one."""


class HistoryWriter:
    """Write one attempt's history.

    Values are told apart by the identity of their variables; those that appear are kept alive while Dynamo does, so
    that an identity stands for one value.
    """

    def __init__(self, trail: Trail, outermost: Translator, failures: HookFailures) -> None:
        self.history = AttemptHistory()
        self.numbers: dict[int, Value] = {}
        """The number of each known value, by the identity of its variable."""
        self.nodes: dict[Any, Segment] = {}
        """The segment in which each node was added to the graph; names of nodes change."""
        self._by_node: dict[Any, Value] = {}
        """The value that each node yields, once a name stands for it."""
        output = translators.output_of(outermost)
        self._trail = trail
        self.failures = failures
        self._growth = Growth(output)
        self._output = output
        self._options = ViewOptions(SideEffects(output))
        self._alive: dict[int, object] = {}
        self._forget_from = _FORGET_FROM
        self._inputs: dict[str, Value] = {}
        """The value of each source."""
        self._shared = new_values.shared_constants()
        self._texts: dict[Value, int] = {}
        self._stack: list[_Frame] = []
        self._paused: dict[FrameId, _Frame] = {}
        self._segment: Segment = -1
        self._changed: list[tuple[object, str | None]] = []

    # ---- what happens

    def frame_entered(self, number: FrameId, translator: Translator) -> Callable[[int], None] | None:
        """Record that Dynamo enters or resumes a frame; return its `watcher`."""
        self._close()
        frame = self._paused.pop(number, None) or _Frame(number, translator, self._trail.position + 1)
        if self._stack and not frame.names:
            for argument in new_values.bound_names(translator).values():
                self._number(argument)  # made by the line that calls
        self.history.codes[number] = translators.code_of(translator)
        self._stack.append(frame)
        self._open()
        return self.watcher(translator)

    def frame_left(self) -> None:
        """Record that Dynamo leaves the innermost frame."""
        self._close()
        if self._stack:
            frame = self._stack.pop()
            if self.history.codes[frame.number].co_flags & _PAUSES:
                self._paused[frame.number] = frame
        self._open()

    def watcher(self, translator: Translator) -> Callable[[int], None] | None:
        """Return a function to call with the line before each instruction of this frame.

        None for a frame that Dynamo has left meanwhile: this is called on any thread.
        """
        frame = next((frame for frame in reversed(self._stack) if frame.translator is translator), None)
        if frame is None:
            return None

        def line_begins(line: int) -> None:
            if line != frame.line:
                with self.failures:
                    self._close()
                    frame.line, frame.began = line, self._trail.position
                    self._open()

        return new_values.watcher(translator, self.numbers, self._appeared, line_begins)

    def changed(self, variable: object, attribute: str | None) -> None:
        """Record that a value changes, or its attribute; how is read where the segment ends."""
        self._changed.append((variable, attribute))

    @contained
    def until_now(self) -> None:
        """Record everything up to here, where the thread stops."""
        self._close()
        self._open()

    # ---- segments

    def _open(self) -> None:
        if self._stack:
            frame = self._stack[-1]
            self._segment = len(self.history.segments)
            self.history.segments.add(frame.began, frame.number, frame.line)

    def _close(self) -> None:
        if not self._stack:
            return
        self._options.effects = SideEffects(self._output)  # Dynamo puts a copy in its place while it speculates
        with torch._C.DisableTorchFunction():
            self._note_names(self._stack[-1])
            if self._changed:
                self._note_changes()
        history, segment, number = self.history, self._segment, self.history.texts.number
        for source, kind in self._growth.guards():
            history.guards.add(segment, number(source), number(kind))
        for node in self._growth.nodes():
            self.nodes[node] = segment
            changed = self._by_node.get(node.args[0]) if node.args and changes_its_argument(node) else None
            if changed is not None:
                history.changes.add(segment, changed, number(node_text(node)))
        for symbol, sentence in self._growth.symbols():
            history.symbols.add(segment, number(symbol), number(sentence))

    def _note_names(self, frame: _Frame) -> None:
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

    def _bind(self, frame: _Frame, name: str, variable: object | None) -> None:
        number = self.history.texts.number
        value, text, source = UNBOUND, number(""), -1
        if variable is not None:
            value = self._number(variable)
            text = self._texts.get(value, -1)
            if text < 0:
                text = self._written(variable)
                if without_lazy(variable)[0] is not None:  # the text of a lazy one changes when Dynamo reads it
                    self._texts[value] = text
            self._by_node[node_of(variable)] = value
            written = source_of(variable)
            source = number(written) if written is not None else -1
        self.history.bindings.add(self._segment, frame.number, number(name), value, text, source)

    def _in_cell(self, cell: object) -> object | None:
        assert self._options.effects is not None
        return self._options.effects.cell_contents(cell)

    def _note_changes(self) -> None:
        """Record the values that have changed, and those that hold them."""
        variables = {id(variable): variable for variable, _ in self._changed}
        values = {
            value: variable for value, variable in self._changeable_values().items() if holds(variable, variables)
        }
        for variable, attribute in self._changed:
            if attribute is None:
                values[self._number(variable)] = variable
            elif not new_values.is_cell(variable):
                self._note_attribute(self._number(variable), variable, attribute)
        self._changed.clear()
        for value, variable in values.items():
            text = self._texts[value] = self._written(variable)
            self.history.changes.add(self._segment, value, text)

    def _changeable_values(self) -> dict[Value, object]:
        """Return the values of all names that can change; bind names whose cells have changed."""
        values: dict[Value, object] = {}
        for frame in self._stack:
            for name, bound in frame.names.items():
                variable: object | None = bound
                if new_values.is_cell(bound):
                    variable = self._in_cell(bound)
                    if variable is not frame.in_cells.get(name):
                        frame.in_cells[name] = variable
                        self._bind(frame, name, variable)
                if variable is not None and is_mutable(variable):
                    values[self._number(variable)] = variable
        return values

    def _note_attribute(self, value: Value, variable: object, attribute: str) -> None:
        assert self._options.effects is not None
        now = self._options.effects.pending_attributes(variable).get(attribute)
        text = f".{attribute} = {variable_text(self._options, now, 1)}" if now is not None else f"del .{attribute}"
        self.history.changes.add(self._segment, value, self.history.texts.number(text))

    # ---- values

    def _appeared(self, stack: Sequence[object]) -> None:
        with self.failures:
            for variable in reversed(stack):
                if id(variable) in self.numbers:
                    break
                self._number(variable)
            if len(self._alive) > self._forget_from:
                self._forget_dropped()

    def _number(self, variable: object) -> Value:
        """Return the number of a value; all variables of one input have the same."""
        value = self.numbers.get(id(variable))
        if value is None or id(variable) in self._shared:
            source = source_of(variable)
            value = (
                len(self.history.made) if source is None else self._inputs.setdefault(source, len(self.history.made))
            )
            if value == len(self.history.made):
                self.history.made.append(self._segment)
            self.numbers[id(variable)] = value
            self._alive[id(variable)] = variable
        return value

    def _forget_dropped(self) -> None:
        for identity, variable in list(self._alive.items()):
            if sys.getrefcount(variable) <= _OWN_REFERENCES:
                del self._alive[identity]
                self._texts.pop(self.numbers.pop(identity), None)
        self._forget_from = _FORGET_FROM + 2 * len(self._alive)

    def _written(self, variable: Any) -> int:
        return self.history.texts.number(variable_text(self._options, variable, 0))


def _is_same(before: object, now: object) -> bool:
    """Whether Dynamo has only put a variable in place of the lazy one for it."""
    variable, _ = without_lazy(now)
    return variable is not None and variable is without_lazy(before)[0]
