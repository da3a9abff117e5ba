"""Read the history of what a stopped frame shows. Used on the stopped thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dynascope.agent.events.hook_failures import contained
from dynascope.agent.inspection.values.history_rows import HistoryEntry, Since
from dynascope.agent.internals.compile.growth import guarded_by, symbols_of_guard
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.graph.graph import changed_arguments, example_of, input_nodes, node_text
from dynascope.agent.internals.graph.memory import share_memory
from dynascope.agent.internals.guards.guards import symbols_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import sizes_of
from dynascope.agent.internals.symbolic_shapes.shapes import symbols_in
from dynascope.agent.internals.variables.variables import node_of, source_object, source_of
from dynascope.agent.tape.tape import UNBOUND, Segment, Value
from dynascope.agent.tape.tape_writer import TapeWriter
from dynascope.agent.tracing.compile_state import Checkpoints
from dynascope.agent.tracing.history.changes import Changes
from dynascope.facts.recompiles.guarded_value import readable


class FrameHistory:
    """Answer `History`'s questions for one frame, from what was recorded of its attempt.

    A failure is reported once, and the answer is None: the other rows are shown all the same.
    """

    def __init__(self, writer: TapeWriter, translator: Translator, checkpoints: Checkpoints) -> None:
        self.failures = writer.failures
        self._checkpoints = checkpoints
        self._writer = writer
        self._tape = writer.tape
        self._frame = writer.number_of(translator)
        self._translator = translator

    @contained
    def of_name(self, name: str, variable: object) -> list[HistoryEntry]:
        found: list[tuple[Segment, str, str]] = []
        number = self._tape.texts.find(name)
        rows = [row for row in self._tape.bindings.where(2, number) if row[1] == self._frame]
        bindings = list({self._tape.segments.row(row[0])[0]: row for row in rows}.values())  # a line's last
        ends = [row[0] for row in bindings[1:]] + [len(self._tape.segments)]
        for (segment, _, _, value, *_), end in zip(bindings, ends, strict=False):
            if value == UNBOUND:
                found.append((segment, "deleted", ""))
            else:
                found += self._of_number(value, end)
        decided = list(self._decided(variable))
        changed = {segment for segment, what, _ in decided if what == "changed"}
        again = (row for row in found[1:] if not (row[1] == "made" and row[0] in changed))  # `x += 1` binds the name
        return self._entries([*found[:1], *again, *decided])

    @contained
    def of_value(self, variable: object) -> list[HistoryEntry]:
        value = self._writer.values.by_identity.get(id(variable))
        end = len(self._tape.segments)
        made = [] if value is None else self._of_number(value, end, source_of(variable))
        return self._entries([*made, *self._decided(variable)])

    @contained
    def of_guard(self, source: str, kind: str | None = None) -> list[HistoryEntry]:
        return self._entries(self._guarded(source, kind))

    @contained
    def of_symbol(self, name: str) -> list[HistoryEntry]:
        return self._entries(self._decisions([name]))

    @contained
    def of_shape_guard(self, guard: Any) -> list[HistoryEntry]:
        return self._entries(row for row in self._decisions(symbols_of_guard(guard)) if row[2] == guarded_by(guard))

    @contained
    def of_node(self, node: Any) -> list[HistoryEntry]:
        known = self._writer.nodes
        made = [(known[each], "made", node_text(each)) for each in (*input_nodes(node), node) if each in known]
        return self._entries([*made, *self._changed_in_graph(node)])

    @contained
    def changes(self) -> list[Since]:
        return Changes(self._writer, self._frame, self._checkpoints).since()

    def name_checkpoint(self, name: str) -> None:
        self._checkpoints.name(name)

    # ---- (segment, what, text)

    def _of_number(self, value: Value, end: Segment, written: str | None = None) -> Iterator[tuple[Segment, str, str]]:
        """Yield what became of a value before segment `end`.

        `written` is the source of one that has no name.
        """
        tape = self._tape
        first = next(tape.bindings.where(3, value), None)
        text, source = ("", -1) if first is None else (tape.texts.all[first[4]], first[5])
        earlier = [row for row in tape.changes.where(1, value) if first is not None and row[0] < first[0]]
        if earlier:  # it had no name yet: what it was is known only where it changed on the line that made it
            at_once = [changed for segment, _, changed in earlier if segment == tape.made[value]]
            text = tape.texts.all[at_once[-1]] if at_once else ""
        if source >= 0 or written is not None:
            written = readable(tape.texts.all[source] if source >= 0 else written or "")
            yield tape.made[value], "input", f"{written}: {text}" if text else written
        else:
            yield tape.made[value], "made", text
        for segment, _, changed in tape.changes.where(1, value):
            if tape.made[value] - (written is not None) < segment < end:
                yield segment, "changed", tape.texts.all[changed]

    def _decided(self, variable: object) -> Iterator[tuple[Segment, str, str]]:
        """Yield the guards on a value, the decisions on its symbols, and its changes in the graph."""
        source, output = source_of(variable), translators.output_of(self._translator)
        symbols: set[str] = set()
        began: Segment = -1
        if source is not None:
            yield from self._guarded(source)
            symbols.update(map(str, symbols_of(output, source_object(variable))))
        node = node_of(variable)
        if node is not None:
            symbols.update(*map(symbols_in, sizes_of(example_of(node))))
            began = -1 if source is not None else self._writer.nodes.get(node, -1)
            yield from self._changed_in_graph(node)
        for segment, symbol, text in self._decisions(sorted(symbols)):
            if segment > began:  # of a result: what was decided since it was made
                yield segment, symbol, text

    def _guarded(self, source: str, kind: str | None = None) -> Iterator[tuple[Segment, str, str]]:
        texts = self._tape.texts
        for segment, _, of_kind in self._tape.guards.where(1, texts.find(source)):
            if kind in (None, texts.all[of_kind]):
                yield segment, "guarded", texts.all[of_kind]

    def _decisions(self, symbols: Iterable[str]) -> Iterator[tuple[Segment, str, str]]:
        texts = self._tape.texts
        for symbol in symbols:
            for segment, _, sentence, _ in self._tape.symbols.where(1, texts.find(symbol)):
                yield segment, symbol, texts.all[sentence]

    def _changed_in_graph(self, node: Any) -> Iterator[tuple[Segment, str, str]]:
        """Yield what writes into the memory of a node's tensor after it was made."""
        made = node
        while same := [each for each in changed_arguments(made) if each is not made and share_memory(each, made)]:
            made = same[0]  # `x += 1` has a node of its own for the same tensor
        began = self._writer.nodes.get(made, -1)
        for other, segment in self._writer.nodes.items():
            if segment >= began and any(share_memory(each, node) for each in changed_arguments(other)):
                yield segment, "changed", node_text(other)

    def _entries(self, rows: Iterable[tuple[Segment, str, str]]) -> list[HistoryEntry]:
        tape, entries = self._tape, []
        for segment, what, text in sorted(dict.fromkeys(rows), key=lambda row: row[0]):
            if segment >= 0:
                began, path, line = tape.place(segment)
                entries.append(HistoryEntry(began, what, text, path, line))
        return entries
