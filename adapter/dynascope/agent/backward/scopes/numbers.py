"""The scopes Sizes and Scalars: numbers lifted into the graph's inputs, with their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dynascope.agent.backward.captures.capture_in_progress import LiveCapture
from dynascope.agent.backward.scopes.rows import origin_text
from dynascope.agent.inspection.scopes.heading import Heading
from dynascope.agent.inspection.values.rows import Children, Row, Rows, ViewOptions
from dynascope.agent.inspection.values.tensors import number_text


def sizes_heading(live: LiveCapture) -> Heading:
    return Heading("Sizes", _children("sizes", live, live.sizes, live.capture.size_origins))


def scalars_heading(live: LiveCapture) -> Heading:
    return Heading("Scalars", _children("scalars", live, live.scalars, live.capture.scalar_origins))


def _children(name: str, live: LiveCapture, values: Sequence[Any], origins: Sequence[int]) -> Children:
    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for i in range(start, stop):
            text = f"{number_text(values[i], options)} ← {origin_text(live, origins, i)}"
            yield Row(f"{name}[{i}]", text, type=type(values[i]).__name__)

    return Children(indexed=Rows(len(values), make))
