"""Answer `forms …` of the debug console: what was made of a graph, and which lines of it are from a line of yours."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from dynascope.agent.documents.documents import Form
from dynascope.console import BadCommand
from dynascope.facts.generated.statements import listed, statements_from

NOTHING = "Nothing has been compiled since the debugger came: only compiles that begin afterwards can be read."
_FROM = re.compile(r"from\s+(.+):(\d+)")
_ONE = re.compile(r"(\S*\d/\S*\d)\s*(.*?)(?::(\d+))?")
_ONLY_GRAPH = (
    "No later form of this graph is known: its backend uses neither AOTAutograd nor Inductor, or has yet to finish."
)


def answer(forms: Sequence[Form], question: str) -> str:
    """Answer `all`, `0/0`, `0/0 joint`, `0/0 joint:12`, `from model.py:20`. Raises BadCommand."""
    if not forms:
        raise BadCommand(NOTHING)
    if question == "all":
        return _listed(forms)
    found = _FROM.fullmatch(question)
    if found is not None:
        return _from_line(forms, found[1], int(found[2]))
    found = _ONE.fullmatch(question)
    if found is None:
        raise BadCommand(
            "Ask `forms 0/0`, `forms 0/0 backward graph`, `forms 0/0 backward graph:12` or `forms from model.py:20`."
        )
    of_compile = [form for form in forms if form.compile_id == found[1]]
    if not of_compile:
        known = ", ".join(dict.fromkeys(form.compile_id for form in forms))
        raise BadCommand(f"There is no graph of a compile [{found[1]}]; there are those of: {known}.")
    if not found[2]:
        return _listed(of_compile)
    form = _chosen(of_compile, found[2])
    if found[3] is not None:
        return _places(form, int(found[3]))
    width = len(str(len(form.text)))
    return "\n".join(f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(form.text, 1))


def _listed(forms: Sequence[Form]) -> str:
    by_compile: defaultdict[str, list[Form]] = defaultdict(list)
    for form in forms:
        by_compile[form.compile_id].append(form)
    rows = []
    for same in by_compile.values():
        rows += [f"{form.name}: {form.heading} ({len(form.text)} lines)" for form in same]
        rows += [_ONLY_GRAPH] if len(same) == 1 else []
    return "\n".join(rows)


def _chosen(forms: Sequence[Form], text: str) -> Form:
    """Return the form with this name, or the only one whose name contains it."""
    named = [(form.name.partition("] ")[2], form) for form in forms]
    exact = [form for name, form in named if name == text]
    fitting = exact or [form for name, form in named if text in name]
    if len(fitting) == 1:
        return fitting[0]
    raise BadCommand(f"Which? {', '.join(name for name, _ in named)}.")


def _places(form: Form, number: int) -> str:
    if not 1 <= number <= len(form.text):
        raise BadCommand(f"{form.name} has {len(form.text)} lines.")
    line = form.text[number - 1].strip()
    places = form.places[number - 1] if number <= len(form.places) else ()
    if not places:
        return f"{line}\nThis line is from no line of the program that torch has noted."
    return "\n".join([line, *(f"{place.path}:{place.line} in {place.function}: {place.code}" for place in places)])


def _from_line(forms: Iterable[Form], path: str, line: int) -> str:
    rows: list[str] = []
    for form in forms:
        found = statements_from(form.text, form.places, lambda place: _is(place.path, path) and place.line == line)
        rows += listed(form.name, found) if found else []
    if not rows:
        raise BadCommand(f"Nothing in the graphs and their later forms is from {PurePath(path).name}:{line}.")
    return "\n".join(rows)


def _is(path: str, asked: str) -> bool:
    return path == asked or path.endswith(f"/{asked.lstrip('/')}")
