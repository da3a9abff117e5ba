"""All facts of a launch as JSON: its problems, then each compile with all its facts, none merged or left out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dynascope.explain.comparison import sentence
from dynascope.explain.problem import Problem
from dynascope.facts.generated import recorded
from dynascope.facts.generated.recorded import as_objects, form_as_objects
from dynascope.facts.profile import tree
from dynascope.facts.reader import Reader
from dynascope.report.summary import Summary


def unmerged(reader: Reader, summary: Summary) -> Iterator[bytes]:
    """Yield pieces of a JSON object: `launch`, `runs`, `problems`, and `compiles`.

    A problem has an `id`, which stays the same in the next run, and the names of its compiles; a compile is
    CompileFacts with a `name`.
    A recompile has a `story`, and a `comparison` with the compile that it replaces. `profile` has the compile's tree of
    times, and one for each time that torch compiled something for it later; `graphs` and `bytecode` are what Dynamo
    generated, `forms` what AOTAutograd and Inductor made of the graphs. `guard_costs` (nanoseconds) is there if the
    program was recorded with `--guards`.
    """
    problems = [_problem(each, summary.names) for each in summary.problems]
    yield b'{\n"launch": %b,\n"runs": %b,\n"problems": %b,\n"compiles": [' % (
        _json(summary.launch),
        _json(summary.runs),
        _json(problems),
    )
    for position, compile in enumerate(summary.compiles):
        facts = reader.compile(compile.id)
        if facts is not None:
            known = {"name": summary.names[compile.id], **msgspec.structs.asdict(facts)}
            known["profile"] = [tree(each) for each in reader.profiles(compile.id)] or None
            known["graphs"] = [as_objects(each) for each in recorded.graphs(reader, compile.id)]
            known["forms"] = [form_as_objects(each) for each in recorded.forms(reader, compile.id)]
            known["guard_costs"] = _guard_costs(reader, compile.id)
            known["bytecode"] = recorded.bytecode(reader, compile.id)
            if compile.id in summary.stories:
                known["story"] = summary.stories[compile.id]
            if compile.id in summary.comparisons:
                comparison = summary.comparisons[compile.id].comparison
                known["comparison"] = {
                    "with": comparison.left.name,
                    "common_lines": comparison.common,
                    "differences": [
                        {"sentence": sentence(comparison, each), **msgspec.structs.asdict(each)}
                        for each in comparison.differences
                    ],
                }
            yield (b",\n" if position else b"\n") + _json(known)
    yield b"\n]\n}\n"


def _problem(each: Problem, names: dict[int, str]) -> dict[str, object]:
    """Return a problem with the names of compiles in the place of their numbers."""
    told = msgspec.structs.asdict(each) | {"compiles": [names[number] for number in each.compiles]}
    told["notes"] = [
        msgspec.structs.asdict(note) | {"compiles": [names[number] for number in note.compiles]} for note in each.notes
    ]
    return told


def _guard_costs(reader: Reader, compile: int) -> dict[str, object] | None:
    """Return all but the text, which says the same."""
    costs = recorded.guard_costs(reader, compile)
    if costs is None:
        return None
    known = msgspec.structs.asdict(costs)
    del known["text"]
    return known | {"guards": [msgspec.structs.asdict(each) for each in costs.guards]}


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value))
