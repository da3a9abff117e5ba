"""Find the line that asked for a guard on a tensor: torch tells it for other guards only."""

from __future__ import annotations

from dynascope.facts.model import CompileFacts
from dynascope.facts.recompiles.guarded_value import guarded_value, of_metadata, readable

_COMPILES_KEPT = 200
_OF_TENSORS = ("size", "stride", "dtype", "rank", "requires_grad", "device", "dispatch key set")

Place = tuple[str, int]


class AskedLines:
    """The lines that the latest compiles' guards on tensors are from, by the tensor or its size."""

    def __init__(self) -> None:
        self._by_compile: dict[str, dict[str, Place]] = {}
        self._subclasses: dict[str, str] = {}
        """By compile: the tensor subclass of which a guard checks the metadata, if there is only one."""

    def compile_ended(self, facts: CompileFacts) -> None:
        """Remember the lines of this compile."""
        places = {
            readable(each.expression): (each.path, each.line)
            for each in facts.guards
            if each.kind == "TENSOR_MATCH" and each.line
        }
        subclasses = {each.expression for each in facts.guards if each.kind == "TENSOR_SUBCLASS_METADATA_MATCH"}
        if len(subclasses) == 1:
            self._subclasses[facts.compile.compile_id] = subclasses.pop()
        for special in facts.specializations:
            places.update({readable(origin): (special.path, special.line) for origin in special.origins})
        if places:
            self._by_compile.pop(facts.compile.compile_id, None)
            self._by_compile[facts.compile.compile_id] = places
            if len(self._by_compile) > _COMPILES_KEPT:
                del self._by_compile[next(iter(self._by_compile))]

    def guard(self, compile_id: str, guard: str) -> str:
        """Return a guard with the tensor of which it checks the metadata, if that is known."""
        tensor = self._subclasses.get(compile_id)
        return guard if tensor is None else of_metadata(guard, tensor)

    def line(self, compile_id: str, guard: str) -> Place | None:
        """Return the line for which a compile has a guard on a tensor; None if it is not known."""
        subject = guarded_value(guard)
        if subject.kind not in _OF_TENSORS:
            return None
        places = self._by_compile.get(compile_id, {})
        return places.get(subject.text) or places.get(readable(subject.expression))
