"""Find the line that asked for a guard on a tensor: torch tells it for other guards only."""

from __future__ import annotations

from typing import TypeVar

from dynascope.facts.model import CompileFacts
from dynascope.facts.recompiles.guarded_value import guarded_value, of_metadata, readable

_COMPILES_KEPT = 200
_OF_TENSORS = ("size", "stride", "dtype", "rank", "requires_grad", "device", "dispatch key set")

Place = tuple[str, int]
T = TypeVar("T")


class AskedLines:
    """The lines that the latest compiles' guards on tensors are from, by the tensor or its size."""

    def __init__(self) -> None:
        self._by_compile: dict[str, dict[str, Place]] = {}
        self._metadata: dict[str, str] = {}
        """The expression of the tensor whose metadata is guarded, by compile; only where there is one such guard."""

    def compile_ended(self, facts: CompileFacts) -> None:
        """Remember the lines of this compile."""
        places = {
            readable(each.expression): (each.path, each.line)
            for each in facts.guards
            if each.kind == "TENSOR_MATCH" and each.line
        }
        subclasses = {each.expression for each in facts.guards if each.kind == "TENSOR_SUBCLASS_METADATA_MATCH"}
        if len(subclasses) == 1:
            _remember(self._metadata, facts.compile.compile_id, subclasses.pop())
        for special in facts.specializations:
            places.update({readable(origin): (special.path, special.line) for origin in special.origins})
        if places:
            _remember(self._by_compile, facts.compile.compile_id, places)

    def guard(self, compile_id: str, guard: str) -> str:
        """Return a guard on metadata with its tensor, if that is known; other guards as they are."""
        tensor = self._metadata.get(compile_id)
        return guard if tensor is None else of_metadata(guard, tensor)

    def line(self, compile_id: str, guard: str) -> Place | None:
        """Return the line for which a compile has a guard on a tensor; None if it is not known."""
        subject = guarded_value(guard)
        if subject.kind not in _OF_TENSORS:
            return None
        places = self._by_compile.get(compile_id, {})
        return places.get(subject.text) or places.get(readable(subject.expression))


def _remember(by_compile: dict[str, T], compile_id: str, value: T) -> None:
    """Set the value of a compile, and drop that of the oldest compile if there are too many."""
    by_compile.pop(compile_id, None)
    by_compile[compile_id] = value
    if len(by_compile) > _COMPILES_KEPT:
        del by_compile[next(iter(by_compile))]
