"""Show the state of compiled autograd in this process: its flags and known functions."""

from __future__ import annotations

from dynascope.agent.inspection.values import concrete
from dynascope.agent.inspection.values.rows import Children, Row, ViewOptions, computed, fixed
from dynascope.agent.inspection.values.tensors import VIRTUAL
from dynascope.agent.internals.autograd import state as autograd_state


def compiled_autograd_rows() -> list[Row]:
    """Return the row `compiled_autograd`, with flags and node functions; none if not imported."""
    flags = autograd_state.flags()
    if not flags:
        return []
    text = "on" if flags.get("compiled_autograd_enabled") == "True" else "off"
    if flags.get("in_compiled_autograd_region") == "True":
        text = "a captured backward runs"
    return [Row("compiled_autograd", text, children=Children(named=computed(_rows)), hint=VIRTUAL)]


def _rows(options: ViewOptions) -> list[Row]:
    rows = [Row(name, text, hint=VIRTUAL) for name, text in autograd_state.flags().items()]
    operators = autograd_state.operators()
    children = Children(
        named=fixed([concrete.untracked_row(options, name, value, None) for name, value in operators.items()])
    )
    return [*rows, Row("ops", f"{len(operators)} functions", children=children if operators else None, hint=VIRTUAL)]
