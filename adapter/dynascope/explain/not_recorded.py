"""Say why a graph, a later form of it, bytecode or costs of guards are not recorded of a compile."""

from __future__ import annotations

from dynascope.facts import model

GUARD_COSTS = "costs of guards"
LATER_FORMS = "form of a graph but Dynamo's own"
_NOT_COMPILED: dict[model.CompileStatus, str] = {
    "empty": "no operation was traced in it",
    "skipped": "it was not compiled",
    "failed": "its compile failed before",
    "captured": "it is a capture of compiled autograd, and what was compiled from it has one",
}


def not_recorded(each: model.Compile, what: str, is_imported: bool, has_graphs: bool) -> str:
    """Return a sentence: `0/1 has no recorded graph: it was not compiled`.

    `has_graphs`: whether the graphs that Dynamo made are recorded.
    """
    if is_imported:
        why = "it was imported from a log"
    elif each.status != "compiled" and not (each.status == "empty" and what in ("bytecode", GUARD_COSTS)):
        why = _NOT_COMPILED[each.status]
    elif what == GUARD_COSTS:
        why = "to record them, run dynascope run --guards PROGRAM"
    elif what == "bytecode" and has_graphs:
        why = "it was for the graph alone, in an export or an aot_compile"
    elif what == LATER_FORMS and has_graphs:
        why = f"its backend, {each.backend}, has made none with AOTAutograd or Inductor"
    else:
        why = "it was recorded without graphs and bytecode"
    return f"{each.compile_id} has no recorded {what}: {why}."
