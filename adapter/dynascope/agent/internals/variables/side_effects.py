"""What Dynamo remembers of changes it has not made yet: `torch._dynamo.side_effects.SideEffects` (2.0)."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.variables.variables import fields


class SideEffects:
    """Reads the `SideEffects` of one `OutputGraph`; never calls its `load_cell` or `load_attr`, which realise."""

    def __init__(self, output: Any) -> None:
        effects = output.side_effects
        self.output = output
        self._attributes: dict[Any, dict[str, Any]] = effects.store_attr_mutations
        self._by_id: dict[int, Any] = effects.id_to_variable

    def pending_attributes(self, variable: object) -> dict[str, Any]:
        """Attributes set while tracing, by name (`store_attr_mutations`, 2.0); a deleted one is a `DeletedVariable`."""
        return self._attributes.get(variable) or {}

    def cell_contents(self, cell: object) -> object | None:
        """The variable in a `CellVariable` (2.6), or None while the cell is empty."""
        pending = self.pending_attributes(cell)
        if "cell_contents" in pending:
            contents: object = pending["cell_contents"]
            return contents
        return fields(cell).get("pre_existing_contents")

    def variable_for(self, real: object) -> object | None:
        """The variable that tracks this real object (`id_to_variable`, 2.0), so that its pending state shows."""
        return self._by_id.get(id(real))
