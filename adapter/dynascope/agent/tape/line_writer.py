"""Write the lines of an attempt while Dynamo traces it, and what each adds to the graph, the guards and the symbols.

A recording needs no more. A debugger that may stop in the attempt needs its values, too: it makes a `TapeWriter`, which
the recording then uses, so that an attempt has one tape. Both report each line to the writer, which takes the first
report. Used on the compiling thread.
"""

from __future__ import annotations

import inspect
import weakref
from typing import Any

from dynascope.agent.internals.compile.growth import Growth, SymbolDecision
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import operation_text
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.tape.code import code_facts
from dynascope.agent.tape.instructions import FrameId, Position, TracedInstructions
from dynascope.agent.tape.tape import NO_CALL, NO_TEXT, Segment, Tape, Value

_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class TapedFrame:
    """A frame being traced: the line that it is at and, for a debugger, the names it had when last seen."""

    def __init__(self, number: FrameId, translator: Translator, began: Position) -> None:
        self.number = number
        self.call = NO_CALL
        self.translator = translator
        self.code = code_facts(translator)
        self.line = translators.line_of(translator)
        self.began = began
        """The position at which the line began: for the recording alone, its first segment."""
        self.pauses = bool(translators.code_of(translator).co_flags & _PAUSES)
        """Whether Dynamo may resume it after it has left it."""
        self.names: dict[str, object] = {}
        self.values: dict[str, Value] = {}
        self.texts: dict[str, int] = {}
        """The text of each name."""
        self.unread: dict[str, object | None] = {}
        """The names whose text may change without a mutation event: of a lazy variable, with the cache that Dynamo
        fills when it reads it, of a container of some, with its `Reach`, and of an iterator, with None."""
        self.in_cells: dict[str, object | None] = {}
        """The variable in the cell of each name that has one."""

    def variable(self, name: str) -> object | None:
        """Return the variable of a name, or the one in its cell."""
        return self.in_cells.get(name, self.names[name])

    def rewrite(self, tape: Tape, segment: Segment, name: str, text: int) -> None:
        """Record that the text of a name is another now."""
        self.texts[name] = text
        tape.rewritten.add(segment, self.number, tape.texts.number(name), text)


class LineWriter:
    """Write one attempt's lines."""

    def __init__(self, outermost: Translator, name: str = "") -> None:
        self.output = translators.output_of(outermost)
        self.tape = Tape(name)
        self.segment: Segment = -1
        self.traced: TracedInstructions | None = None
        """The instructions by which a debugger counts positions."""
        self.stack: list[TapedFrame] = []
        self.nodes: dict[Any, Segment] = {}
        """The segment in which each node was added to the graph; names of nodes change."""
        self.growth = Growth(self.output)
        self._signs: tuple[int, ...] = ()
        self._guard_count = 0
        _writers.put(self.output, weakref.ref(self))

    # ---- what happens

    def entered(self, translator: Translator) -> None:
        """Write that Dynamo enters or resumes a frame."""
        if self.stack and self.stack[-1].translator is translator:
            return
        self.close()
        frame = self.enter(translator)
        frame.call = len(self.tape.calls)
        self.tape.calls.append((frame.code, self.stack[-1].call if self.stack else NO_CALL))
        self.stack.append(frame)
        self.open()

    def line_begins(self, translator: Translator, line: int) -> None:
        """Write that a line of the innermost frame begins."""
        frame = self.stack[-1] if self.stack else None
        if frame is None or frame.translator is not translator or frame.line == line:
            return
        self.close()
        frame.line, frame.began = line, self.segment + 1 if self.traced is None else self.traced.position
        self.open()

    def left(self, translator: Translator) -> None:
        """Write that Dynamo leaves the innermost frame."""
        if self.stack and self.stack[-1].translator is translator:
            self.close()
            self.leave(self.stack.pop())
            self.open()

    # ---- overridden by the writer of a debugger

    def enter(self, translator: Translator) -> TapedFrame:
        """Return the frame that Dynamo enters."""
        return TapedFrame(len(self.tape.calls), translator, self.segment + 1)

    def leave(self, frame: TapedFrame) -> None:
        """Forget a frame that Dynamo has left."""

    def open(self) -> None:
        """Begin a segment."""
        if self.stack:
            frame = self.stack[-1]
            self.segment += 1
            self.tape.segments.add(frame.began, frame.number, frame.line, frame.call)

    def close(self) -> None:
        """Write what the segment has added, before another begins."""
        if self.stack:
            self.grow()

    def grow(self) -> list[SymbolDecision]:
        """Write what was added to guards, graph and symbols; return the decisions on symbols."""
        signs = self.growth.signs()
        if signs == self._signs:
            return []
        self._signs = signs
        tape, number, segment = self.tape, self.tape.texts.number, self.segment
        if signs[0] != self._guard_count:
            self._guard_count = signs[0]
            tape.guard_counts.add(segment, signs[0])
        for node in self.growth.nodes():
            if node not in self.nodes:  # else Dynamo has removed the latest
                self.nodes[node] = segment
                self.write_node(node)
        decisions = self.growth.symbols()
        for decision in decisions:
            tape.symbols.add(segment, number(decision.symbol), number(decision.sentence), decision.creates)
            for source in decision.fixes:
                tape.fixed.add(segment, number(source))
        return decisions

    def write_node(self, node: Any, text: int = NO_TEXT) -> None:
        """Write a node; `text` is what a debugger shows."""
        number = self.tape.texts.number
        calculated = NO_TEXT if node.op in ("placeholder", "output") else number(operation_text(node))
        self.tape.nodes.add(self.segment, text, number(node.name), calculated)


_writers: WeakKeys[Any, weakref.ref[LineWriter]] = WeakKeys()
"""The writer of each attempt in progress, by its `OutputGraph`."""


def writer_of(outermost: Translator) -> LineWriter:
    """Return the writer of the attempt that traces this frame, a debugger's if there is one."""
    known = _writers.get(translators.output_of(outermost))
    return (known and known()) or LineWriter(outermost)
