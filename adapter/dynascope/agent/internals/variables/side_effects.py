"""Read the pending changes that Dynamo keeps in `torch._dynamo.side_effects.SideEffects` (2.0)."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.variables.variables import fields


class SideEffects:
    """Read the `SideEffects` of one `OutputGraph`; never call its `load_cell` or `load_attr`, which realise."""

    def __init__(self, output: Any) -> None:
        effects = output.side_effects
        self.output = output
        self._attributes: dict[Any, dict[str, Any]] = effects.store_attr_mutations
        self._by_id: dict[int, Any] = effects.id_to_variable

    def pending_attributes(self, variable: object) -> dict[str, Any]:
        """Return attributes set while tracing (`store_attr_mutations`, 2.0), or `DeletedVariable`s."""
        return self._attributes.get(variable) or {}

    def cell_contents(self, cell: object) -> object | None:
        """Return the variable in a `CellVariable` (2.6), or None while the cell is empty."""
        pending = self.pending_attributes(cell)
        if "cell_contents" in pending:
            contents: object = pending["cell_contents"]
            return contents
        return fields(cell).get("pre_existing_contents")

    def variable_for(self, real: object) -> object | None:
        """Return the variable that tracks this real object and its changes (`id_to_variable`, 2.0)."""
        return self._by_id.get(id(real))
