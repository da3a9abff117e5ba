"""The timeline of a run has its compiles, their phases by part of the compiler, and what went wrong at its time."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.facts.profile import NO_PARENT, Phase, Profile
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer
from dynascope_lsp.explorer.timeline import LaunchTimeline, Span, timeline

from tests.support.facts import sample

PHASES = [
    Phase(NO_PARENT, "dynamo", 0.0, 4.0),
    Phase(0, "compile_attempt_0", 0.0, 1.0),
    Phase(1, "bytecode_tracing", 0.0, 0.5),
    Phase(0, "compile_attempt_1", 1.0, 2.75),
    Phase(3, "bytecode_tracing", 1.0, 0.5),
    Phase(3, "backend_compile", 1.5, 2.0),
    Phase(5, "pass.post_grad_passes.stable_sort", 2.0, 0.25),
    Phase(5, "a_new_phase_of_torch", 2.5, 0.25),
]
BACKWARD = [Phase(NO_PARENT, "compile_fx.<locals>.bw_compiler", 0.0, 0.5)]


@pytest.fixture
def found(tmp_path: Path) -> LaunchTimeline:
    model_path, layers_path = map(str, sample.write_workspace(tmp_path))
    store = tmp_path / ".dynascope/facts.db"
    writer = Writer(store, sample.new_run(tmp_path))
    first, second = sample.first_compile(model_path, layers_path), sample.second_compile(model_path, layers_path)
    first.compile.began, first.compile.seconds, first.profile = 1000.0, 4.0, Profile(1000.0, [], PHASES)
    second.compile.began = 1010.0
    writer.write(second)  # compiles are stored in the order they ended
    writer.write(first)
    writer.write(sample.skipped_frame(model_path))
    writer.write_later(first.compile.compile_id, Profile(1005.0, [], BACKWARD))
    writer.close()
    with Reader.open(store) as reader:
        made = timeline(reader, "launch 1")
    assert made is not None
    return made


def span(found: LaunchTimeline, status: str, name: str) -> Span:
    return next(each for each in found.spans if each.status == status and name in each.name)


def test_compiles_are_in_the_order_they_began_without_those_that_were_skipped(found: LaunchTimeline):
    told = [(each.name, each.status, each.began, each.seconds) for each in found.spans]
    assert told[0] == ("Model.forward [0/0]", "compiled", 0.0, 4.0)
    assert told[1] == ("Model.forward [0/0] compiled later", "later", 5.0, 0.5)
    assert told[2][:3] == ("Model.forward [0/1]", "failed", 10.0) and len(told) == 3
    assert found.title.startswith("Timeline of train.py, ") and list(found.processes.values()) == ["process 4711"]


def test_phases_are_of_parts_of_the_compiler_and_unknown_ones_of_the_part_around_them(found: LaunchTimeline):
    (first, *_) = found.spans
    told = [(*found.names[name], parent, began, seconds) for name, parent, began, seconds in first.phases]
    assert told[5:] == [
        ("backend_compile", "backend", 3, 1.5, 2.0),
        ("pass.post_grad_passes.stable_sort", "Inductor", 5, 2.0, 0.25),
        ("a_new_phase_of_torch", "backend", 5, 2.5, 0.25),
    ]
    later = span(found, "later", "[0/0]")
    assert [(found.names[name][1], began) for name, _, began, _ in later.phases] == [("Inductor", 5.0)]


def test_what_went_wrong_is_at_the_time_when_it_was_known(found: LaunchTimeline):
    first = span(found, "compiled", "[0/0]")
    marks = [(each.kind, each.at, each.place.line if each.place else None) for each in first.marks]
    assert marks == [("restart", 1.0, None), ("graph break", 1.5, 5)]
    assert [each.text for each in first.marks] == [
        "Dynamo traces Model.forward again (attempt 1, counted from 0).",
        "Data-dependent branching: a graph ends here; what follows is traced on its own",
    ]
    again = span(found, "failed", "[0/1]")
    assert again.marks[0].kind == "recompile" and again.marks[0].at == again.began
    assert again.marks[0].text.startswith("Recompiled because of x.size()[0]: it does not match 0/0: ")


def test_a_run_without_compiles_has_none(tmp_path: Path):
    store = tmp_path / ".dynascope/facts.db"
    Writer(store, sample.new_run(tmp_path)).close()
    with Reader.open(store) as reader:
        assert timeline(reader, "launch 1") is None
