"""Find the compile whose graph, later forms or bytecode are asked for, and write them for the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dynascope.explain.compiles import title
from dynascope.explain.not_recorded import GUARD_COSTS, LATER_FORMS, not_recorded
from dynascope.explain.problem import Place
from dynascope.facts import model
from dynascope.facts.comparison.recorded import no_compile
from dynascope.facts.generated import recorded
from dynascope.facts.generated.cache_keys import CACHE_KEY, differences, key_of, summary
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.generated.recorded import bytecode_text, form_text, graphs_text
from dynascope.facts.generated.statements import Statement, listed, places_in, statements_from
from dynascope.facts.process_names import as_shown, compile_names
from dynascope.facts.reader import Reader
from dynascope.report.sources import Sources, is_at

_GRAPH = re.compile(r"graph( \(\d+\))?$")
"""The name of a later form that has nodes, also where it is a text from a cache."""


class NotRecorded(Exception):
    """There is no such compile, or nothing of it. The text is for the user."""


def compile_named(reader: Reader, launch: str, name: str) -> model.Compile:
    """Return the newest compile that the report calls so. Raises NotRecorded."""
    compiles = reader.compiles(launch)
    runs = [run for run in reader.runs() if run.launch == launch]
    names, shown = compile_names(compiles, runs), as_shown(name, compiles, runs, reader)
    found = [each for each in compiles if shown in (names[each.id], f"[{names[each.id]}]")]
    if not found:
        raise NotRecorded(no_compile(name, filter(None, names.values())))
    return found[-1]


def graph(reader: Reader, each: model.Compile) -> str:
    """Return the text of a compile's graphs. Raises NotRecorded."""
    graphs = recorded.graphs(reader, each.id)
    if not graphs:
        raise _not_there(reader, each, "graph")
    heading = f"{title(each, each.compile_id)} graph: as Dynamo passed it to the backend"
    return graphs_text(heading, graphs, Sources(reader).line)


def code(reader: Reader, each: model.Compile) -> str:
    """Return the text of the code that Dynamo generated. Raises NotRecorded."""
    bytecode = recorded.bytecode(reader, each.id)
    if bytecode is None:
        raise _not_there(reader, each, "bytecode")
    return bytecode_text(bytecode)


def guards(reader: Reader, each: model.Compile) -> str:
    """Return the text of a compile's guards, with their costs. Raises NotRecorded."""
    costs = recorded.guard_costs(reader, each.id)
    if costs is None:
        raise _not_there(reader, each, GUARD_COSTS)
    name = title(each, each.compile_id)
    return f"# {name} guards: measured with the values of the call for which it was compiled\n{costs.text}"


def forms(reader: Reader, each: model.Compile, asked: str) -> str:
    """Return the text of the later form whose name contains what is asked for, or of `all`.

    Raises NotRecorded.
    """
    known = [form.name for form in recorded.form_names(reader, each.id)]
    if not known:
        raise _not_there(reader, each, LATER_FORMS)
    fitting = known if asked == "all" else [asked] if asked in known else [name for name in known if asked in name]
    if not fitting or (len(fitting) > 1 and asked != "all"):
        raise NotRecorded(f"Which? {each.compile_id} has: {', '.join(known)}; `all` prints all.")
    return "\n".join(form(reader, each, name) for name in fitting)


def form(reader: Reader, each: model.Compile, name: str) -> str:
    """Return the text of a later form. Raises NotRecorded."""
    found = recorded.form_named(reader, each.id, name)
    if found is None:
        raise _not_there(reader, each, name)
    if name.endswith(CACHE_KEY):
        found.text = "\n".join([*_since_the_run_before(reader, each, found), found.text])
    return form_text(title(each, each.compile_id), found, Sources(reader).line)


class FromLine(NamedTuple):
    """The lines of one graph, or later form of it, that are from a line of the program."""

    compile: model.Compile
    form: str
    """The name of the later form; "" for the graph itself."""
    is_graph: bool
    """Whether it can be drawn."""
    statements: list[Statement]


def from_line(
    reader: Reader, compiles: Iterable[model.Compile], is_asked: Callable[[tuple[str, int]], bool]
) -> Iterator[FromLine]:
    """Yield the lines of graphs and later forms that are from a line of the program.

    `is_asked` says of a recorded path and line whether they are that line.
    """
    line_of = Sources(reader).line
    for each in compiles:
        graphs = recorded.graphs(reader, each.id)
        texts = [("", True, graphs_text("", graphs, line_of))] if graphs else []
        texts += [
            (form.name, bool(form.graphs), form_text("", form, line_of))
            for form in recorded.forms(reader, each.id)
            if CACHE_KEY not in form.name
        ]
        for name, is_graph, text in texts:
            lines = text.split("\n")
            found = statements_from(lines, places_in(lines, not name or bool(_GRAPH.search(name))), is_asked)
            if found:
                yield FromLine(each, name, is_graph, found)


def made_of(reader: Reader, launch: str, line: str) -> str:
    """Return a list of all that was made of `model.py:10` in a launch. Raises NotRecorded.

    It is the answer to `forms from model.py:10` in a debug session.
    """
    file, _, number = line.rpartition(":")
    if not file or not number.isdecimal():
        raise NotRecorded(f"Which line? `{line}` is not FILE:LINE.")
    compiles = reader.compiles(launch)
    names = compile_names(compiles, [run for run in reader.runs() if run.launch == launch])

    rows: list[str] = []
    for each in from_line(reader, compiles, lambda place: is_at(Place(*place), file, number)):
        rows += listed(f"{title(each.compile, names[each.compile.id])} {each.form or 'graph'}", each.statements)
    if not rows:
        raise NotRecorded(
            f"Nothing in the recorded graphs and their later forms is from {line}: Dynamo did not trace it, "
            "or it is not recorded. `dynascope run --no-graphs` records no graphs, and what is from a cache does "
            "not name its lines."
        )
    return "\n".join([*rows, ""])


def _not_there(reader: Reader, each: model.Compile, what: str) -> NotRecorded:
    """Return the error that says why a compile has no recorded graph, bytecode or form."""
    is_imported = any(run.id == each.run and run.origin == "imported" for run in reader.runs())
    return NotRecorded(not_recorded(each, what, is_imported, "graphs" in recorded.kinds(reader, each.id)))


def _since_the_run_before(reader: Reader, each: model.Compile, form: LaterForm) -> Iterator[str]:
    """Yield what differs from the key of this compile in the latest run before that has one."""
    began = {run.id: run.began for run in reader.runs()}
    same = [
        (began[compile.run], other)
        for compile in reader.compiles()
        if (compile.compile_id, compile.function, compile.path) == (each.compile_id, each.function, each.path)
        and began[compile.run] < began[each.run]
        and (other := recorded.form_named(reader, compile.id, form.name)) is not None
    ]
    if same:
        _, other = max(same, key=lambda one: one[0])
        key, before = (key_of(text.splitlines()) for text in (form.text, other.text))
        yield f"# What differs from the run before: {summary(key, before)}"
        yield from [*differences(key, before), ""]
