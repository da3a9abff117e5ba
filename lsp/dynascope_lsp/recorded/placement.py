"""Place facts in the present text by the hashes of lines, so that they move with the lines."""

from __future__ import annotations

from functools import cached_property

from dynascope.facts import model
from dynascope.facts.distinct import Distinct

from dynascope_lsp.documents.alignment import Alignment
from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.file_facts import FileFacts


class FactPositions:
    """Map the facts about one file to the lines of one version of its text."""

    def __init__(self, facts: FileFacts, text: Text, *, trusted: bool = False) -> None:
        """Align the lines; a `trusted` text is the recorded one (a cell is found by its content)."""
        self._facts = facts
        self._alignments = {
            number: Alignment(text.hashes if trusted else source.line_hashes, text.hashes)
            for number, source in facts.view.sources.items()
        }

    def now(self, fact: model.Fact | model.Compile) -> int | None:
        """Return the present line of a fact; None when that line was changed or removed."""
        alignment = self._alignments.get(fact.source)
        return alignment.now(fact.line) if alignment else None

    def line(self, then: int) -> int | None:
        """Return the present line of `then` by the newest source that has it: frames name no source."""
        for number in sorted(self._alignments, reverse=True):
            found = self._alignments[number].now(then)
            if found is not None:
                return found
        return None

    def tensors(self, first_line: int, last_line: int) -> list[tuple[int, Distinct[model.TracedTensor]]]:
        """Return the values of names after these present lines, each with its line."""
        if self.identical:
            return [(each.fact.line, each) for each in self._facts.tensors(first_line, last_line)]
        then = [line for a in self._alignments.values() for line in a.then(first_line, last_line)]
        if not then:
            return []
        placed = [(self.now(each.fact), each) for each in self._facts.tensors(min(then), max(then))]
        return [(line, each) for line, each in placed if line is not None and first_line <= line <= last_line]

    @cached_property
    def identical(self) -> bool:
        """Whether the text is still the recorded one."""
        return all(each.identical for each in self._alignments.values())

    def changed(self, first_line: int, last_line: int) -> bool:
        """Whether these present lines differ from the traced ones, even if only in a comment."""
        if self.identical:
            return False
        return not any(each.has_piece(first_line, last_line) for each in self._alignments.values())
