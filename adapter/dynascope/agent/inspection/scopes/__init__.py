"""Build the headings of the Variables view at a symbolic frame; here those of its own values, from Locals on."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.agent.inspection.scopes import codegen, compiling, trace
from dynascope.agent.inspection.values import symbolic
from dynascope.agent.inspection.values.names import Names, rows_of_names
from dynascope.agent.inspection.values.rows import Children, Heading, Row, Rows, ViewOptions, few
from dynascope.agent.internals.codegen.codegen import ending_of
from dynascope.agent.internals.frames.frame_state import value_stack
from dynascope.agent.internals.frames.stack_roles import stack_roles
from dynascope.agent.internals.frames.translators import output_of
from dynascope.agent.internals.variables.variables import is_variable


def headings(names: Names) -> Iterator[Heading]:
    """Yield the headings of a frame, in order; Closure and Codegen only where there is one."""
    yield local_heading(names)
    if names.closure:
        yield closure_heading(names)
    yield global_heading(names)
    yield stack_heading(names)
    yield trace.guards_heading(names)
    yield trace.shapes_heading(names)
    yield trace.graph_heading(names)
    ending = ending_of(output_of(names.translator))
    if ending is not None:
        yield codegen.heading(ending)
    yield compiling.heading(names)
    yield trace.changes_heading(names)


def local_heading(names: Names) -> Heading:
    """Return Locals; in place of a number a client may offer to try another."""
    rows = rows_of_names(names.bound_locals)

    def make(options: ViewOptions, start: int, stop: int) -> Iterator[Row]:
        for row in rows.make(options, start, stop):
            row.is_tried = row.is_number
            yield row

    children = Children(named=Rows(rows.count, make, names=rows.names))
    return Heading("Locals", children, hint="locals", empty="(no locals yet)")


def closure_heading(names: Names) -> Heading:
    """Return Closure: names of enclosing functions, read through their cells."""
    return Heading("Closure", Children(named=rows_of_names(names.closure)))


def global_heading(names: Names) -> Heading:
    """Return Globals: the globals that the code names, with values assigned while tracing."""
    children = few(lambda options: [named.row(options, name, name) for name, named in names.globals().items()])
    return Heading("Globals", children, expensive=True, hint="globals", empty="(the code names no globals)")


def stack_heading(names: Names) -> Heading:
    """Return Value Stack: operands of later instructions, top first, with roles."""
    stack = value_stack(names.translator)

    def make(options: ViewOptions) -> list[Row]:
        roles = _roles(names, len(stack))
        operands = [(f"[{i}] {roles[i]}".rstrip(), each) for i, each in enumerate(stack) if is_variable(each)]
        return [symbolic.row(options, name, operand, None) for name, operand in reversed(operands)]

    return Heading("Value Stack", few(make), hint="registers")


def _roles(names: Names, count: int) -> list[str]:
    try:
        # during an instruction, for example at a graph break, its operands may already be popped
        return [*(role or "" for role in stack_roles(names.translator)), *[""] * count][:count]
    except Exception:  # unexpected bytecode: still show the values, by position
        return [""] * count
