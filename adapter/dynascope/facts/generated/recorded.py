"""Read what was recorded of what a compile generated, and write it as text and as plain objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from dynascope.facts.generated.model import (
    FORM,
    NO_STACK,
    NODES_KEPT,
    Bytecode,
    Graph,
    GraphNode,
    GuardCosts,
    LaterForm,
)
from dynascope.facts.reader import Reader
from dynascope.facts.user_stack import UserFrame


def graphs(reader: Reader, compile: int) -> list[Graph]:
    """Return the graphs of a compile; [] if it has none, or was recorded without."""
    return reader.document(compile, "graphs", list[Graph]) or []


def bytecode(reader: Reader, compile: int) -> Bytecode | None:
    """Return the code that Dynamo generated; None if there is none, or it was recorded without."""
    return reader.document(compile, "bytecode", Bytecode)


def guard_costs(reader: Reader, compile: int) -> GuardCosts | None:
    """Return the guards with their costs; None if they were recorded without."""
    return reader.document(compile, "guards", GuardCosts)


class FormName(NamedTuple):
    """A later form that was recorded; `is_graph`: it has nodes, and no text."""

    name: str
    is_graph: bool
    kind: str
    """What it is called in the store."""


def form_names(reader: Reader, compile: int) -> list[FormName]:
    """Return what was made of the graphs of a compile, in the order in which it was made.

    A name has a number where there are several: a backend may divide a graph.
    """
    seen: Counter[str] = Counter()
    found = []
    for kind in _all_kinds(reader, compile):
        if kind.startswith(FORM):
            _, _, what, name = kind.split(" ", 3)
            seen[name] += 1
            found.append(FormName(name if seen[name] == 1 else f"{name} ({seen[name]})", what == "graph", kind))
    return found


def forms(reader: Reader, compile: int) -> list[LaterForm]:
    """Return all these forms."""
    return [form for each in form_names(reader, compile) if (form := form_named(reader, compile, each.name))]


def form_named(reader: Reader, compile: int, name: str) -> LaterForm | None:
    """Return the form with this name; None if there is none."""
    kind = next((each.kind for each in form_names(reader, compile) if each.name == name), "")
    found = reader.document(compile, kind, LaterForm)
    return structs.replace(found, name=name) if found is not None else None


def kinds(reader: Reader, compile: int) -> set[str]:
    """Return which of `graphs`, `bytecode` and `guards` there are."""
    return {"graphs", "bytecode", "guards"}.intersection(_all_kinds(reader, compile))


def _all_kinds(reader: Reader, compile: int) -> list[str]:
    query = "SELECT kind FROM document WHERE compile_id = ? ORDER BY kind"
    return [row[0] for row in reader.execute(query, (reader.content(compile),))]


LineOf = Callable[[str, int], str]
"""Return the text of a line of a file, "" where it cannot be read."""


def graphs_text(heading: str, graphs: Sequence[Graph], line_of: LineOf) -> str:
    """Return graphs as functions, with module and line of the program above each group of nodes."""
    lines = [f"# {heading}"]
    for number, graph in enumerate(graphs):
        if number:
            lines += ["", "", f"# {graph.name}" if graph.name == graphs[0].name else f"# self.{graph.name}"]
        lines += _graph(graph, line_of)
    return "\n".join([*lines, ""])


def bytecode_text(bytecode: Bytecode) -> str:
    """Return the bytecode, and how much of it is missing."""
    return bytecode.text + _left_out(bytecode.left_out)


def form_text(frame: str, form: LaterForm, line_of: LineOf) -> str:
    """Return a later form of a graph of `frame`, `Model.forward [0/1]`."""
    heading = f"{frame} {form.name}: {form.heading}"
    if form.graphs:
        return graphs_text(heading, form.graphs, line_of)
    return f"# {heading}\n{form.text}\n{_left_out(form.left_out)}"


def form_as_objects(form: LaterForm) -> dict[str, Any]:
    """Return a later form, for JSON."""
    return {**structs.asdict(form), "graphs": [as_objects(each) for each in form.graphs]}


def as_objects(graph: Graph) -> dict[str, Any]:
    """Return a graph whose nodes name their inputs and have their lines, for JSON."""
    nodes = []
    for node in graph.nodes:
        known = structs.asdict(node)
        stack = known.pop("stack")
        known["inputs"] = [graph.nodes[number].name for number in node.inputs]
        known["stack"] = [structs.asdict(each) for each in graph.stacks[stack]] if stack != NO_STACK else []
        nodes.append(known)
    return {"name": graph.name, "nodes": nodes, "left_out": graph.left_out}


def _graph(graph: Graph, line_of: LineOf) -> Iterator[str]:
    first = next((at for at, node in enumerate(graph.nodes) if node.op != "placeholder"), len(graph.nodes))
    yield f"def {graph.name.rpartition('.')[2]}(self,"
    for node in graph.nodes[:first]:
        yield f"    {node.name},{_note(node)}"
    yield "):"
    last: tuple[str, int] = ("", NO_STACK)
    for node in graph.nodes[first:]:
        if (node.module, node.stack) != last:
            last = node.module, node.stack
            yield ""
            if node.module:
                yield f"    # {node.module}"
            if node.stack != NO_STACK:
                yield from (f"    # {_place(each, at, line_of)}" for at, each in enumerate(graph.stacks[node.stack]))
        yield f"    {node.text}{_note(node)}"
    if graph.left_out:
        yield f"    # {graph.left_out:,} more nodes were not kept: of a compile, the first {NODES_KEPT:,} are."


def _left_out(count: int) -> str:
    return f"\n… {count:,} more characters were not kept.\n" if count else ""


def _note(node: GraphNode) -> str:
    told = "  ".join(filter(None, [node.value, node.source]))
    return f"  # {told}" if told else ""


def _place(place: UserFrame, at: int, line_of: LineOf) -> str:
    """Return a line of the program as `GraphModule.print_readable` of torch writes it."""
    code = line_of(place.path, place.line)
    where = f"File: {place.path}:{place.line} in {place.function}{f', code: {code}' if code else ''}"
    return f"called at {where}" if at else where
