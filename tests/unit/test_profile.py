"""The profile of compiles: how it is written, joined to a tree, added up, printed and exported."""

from __future__ import annotations

import json
import pstats
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dynascope.agent.recorder.later import LaterPhases
from dynascope.agent.recorder.profile_writer import ProfileWriter
from dynascope.cli import main
from dynascope.explain.where_time_went import Spent, in_parts, where_time_went
from dynascope.facts.in_progress import Board
from dynascope.facts.model import Compile
from dynascope.facts.profile import NO_PARENT, Node, Phase, Profile, TracedFunction, totals, tree
from dynascope.facts.store import decoded, encoded
from dynascope.facts.writer import Writer

from tests.support.facts import sample


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def read(self) -> float:
        return self.now


def forward() -> None:
    """Stand for a function that Dynamo traces."""


def attend() -> None:
    """Stand for a function that the first calls."""


PROFILE = Profile(
    began=1000.0,
    functions=[
        TracedFunction(NO_PARENT, "forward", "/m.py", 3, 0, 0.25, 2),
        TracedFunction(0, "attend", "/m.py", 9, 5, 0.5, 4),
        TracedFunction(0, "attend", "/m.py", 9, 6, 0.125, 2),
    ],
    phases=[
        Phase(NO_PARENT, "dynamo", 0.0, 4.0),
        Phase(0, "compile_attempt_0", 0.0, 1.0),
        Phase(1, "bytecode_tracing", 0.0, 0.5),
        Phase(0, "compile_attempt_1", 1.0, 2.75),
        Phase(3, "bytecode_tracing", 1.0, 0.5),
        Phase(3, "backend_compile", 1.5, 2.0),
        Phase(0, "build_guards", 3.75, 0.25),
    ],
)


def shown(node: Node) -> object:
    return node.name, node.seconds, node.own, node.count, [shown(child) for child in node.children]


def test_functions_are_below_the_phase_that_traces_them_and_attempts_are_one_row() -> None:
    (root,) = tree(decoded(encoded(PROFILE), Profile))
    attend = [("attend", 0.5, 0.5, 4, []), ("attend", 0.125, 0.125, 2, [])]
    forward = ("forward", 0.875, 0.25, 2, attend)
    attempts = ("compile_attempt", 3.75, 0.875, 2, [forward, ("backend_compile", 2.0, 2.0, 1, [])])
    assert shown(root) == ("dynamo", 4.0, 0.0, 1, [attempts, ("build_guards", 0.25, 0.25, 1, [])])
    assert sum(node.own for node in root.walk()) == root.seconds


def test_without_phases_there_are_the_functions() -> None:
    (root,) = tree(Profile(0.0, PROFILE.functions, []))
    assert (root.name, root.seconds) == ("forward", 0.875)


def test_a_function_at_two_places_is_one_total_with_its_callers() -> None:
    found = {each.key[1]: each for each in totals(tree(PROFILE))}
    assert (found["attend"].own, found["attend"].seconds, found["attend"].count) == (0.625, 0.625, 6)
    assert found["attend"].callers == {("/m.py", "forward", 3): (0.625, 0.625, 6)}
    assert found["forward"].is_function and not found["dynamo"].is_function


def test_recursion_counts_once() -> None:
    below = Node("f", 1.0, 1, "/m.py", 1, 2)
    (found,) = totals([Node("f", 3.0, 1, "/m.py", 1, 0, [below])])
    assert (found.own, found.seconds, found.count) == (3.0, 3.0, 2)


def test_an_attempt_that_is_forgotten_took_no_time() -> None:
    time = Time()
    writer = ProfileWriter(time.read)
    writer.phase_begins("dynamo")
    for is_kept in (False, True):
        writer.attempt_begins()
        writer.phase_begins("bytecode_tracing")
        number = writer.entered(NO_PARENT, 0, forward.__code__, "forward", "/m.py", 3)
        writer.spent(number, 1.0)
        writer.entered(number, 5, attend.__code__, "attend", "/m.py", 9)
        time.now += 1.0
        writer.phase_ends("bytecode_tracing")
        if not is_kept:
            writer.forget_attempt(1.0)
    writer.phase_ends("dynamo")
    profile = writer.profile()
    assert [(each.name, each.began, each.seconds) for each in profile.phases] == [
        ("dynamo", 0.0, 1.0),
        ("bytecode_tracing", 0.0, 1.0),
    ]
    assert [(each.function, each.seconds, each.count) for each in profile.functions] == [
        ("forward", 1.0, 1),
        ("attend", 0.0, 1),
    ]


def test_a_phase_that_began_before_the_compile_is_no_part_of_it() -> None:
    writer = ProfileWriter(Time().read)
    writer.phase_begins("inner")
    assert not writer.phase_ends("outer") and writer.phase_ends("inner")
    assert [each.name for each in writer.profile().phases] == ["inner"]


def test_too_many_phases_are_counted_not_kept() -> None:
    writer = ProfileWriter(Time().read)
    writer.phase_begins("backend_compile")
    for _ in range(5_000):
        writer.phase_begins("pass")
        writer.phase_ends("pass")
    profile = writer.profile()
    assert len(profile.phases) + profile.left_out == 5_001 and profile.left_out > 1_000
    assert profile.phases[0].name == "backend_compile"


def test_what_is_compiled_later_belongs_to_a_compile_that_has_ended() -> None:
    written: list[tuple[str, Profile]] = []
    later = LaterPhases(lambda compile_id, profile: written.append((compile_id, profile)), Board())
    later.phase_begins("dynamo", "0/0")  # of a compile that has not ended
    later.phase_ends("dynamo")
    later.compile_ended(sample.first_compile("/model.py", "/inner.py").compile)
    for name in ("entire_backward_compile", "inductor_compile"):
        later.phase_begins(name, "0/0")
    for name in ("inductor_compile", "entire_backward_compile"):
        later.phase_ends(name)
    ((compile_id, profile),) = written
    assert compile_id == "0/0"
    assert [(each.parent, each.name) for each in profile.phases] == [
        (NO_PARENT, "entire_backward_compile"),
        (0, "inductor_compile"),
    ]


BACKWARD = Phase(NO_PARENT, "entire_backward_compile", 0.0, 3.0)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DYNASCOPE_FACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    facts = sample.first_compile(*map(str, sample.write_workspace(tmp_path)))
    facts.compile.seconds, facts.compile.backend_seconds, facts.profile = 4.0, 2.0, PROFILE
    writer = Writer(tmp_path / ".dynascope" / "facts.db", sample.new_run(tmp_path))
    writer.write(facts)
    writer.write_later(facts.compile.compile_id, Profile(1010.0, [], [BACKWARD]))
    writer.close()
    return tmp_path


def profile(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["profile", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_terminal_shows_compiles_functions_phases_and_lines(workspace: Path) -> None:
    text = profile()
    assert text.startswith("1 compile: 4.00 s, and 3.00 s to compile backwards and kernels later\n")
    rows = [" ".join(row.split()) for row in text.splitlines()]
    assert any(row.startswith("4.00 0.88 2.00 0.25 0.88 3.00 ") for row in rows)
    assert "625.0 625.0 6 attend /m.py:9" in rows and "250.0 875.0 2 forward /m.py:3" in rows
    assert "3000.0 3000.0 1 entire_backward_compile" in rows and "2000.0 2000.0 1 backend_compile" in rows
    assert any(row.startswith("200.0 2 layers.py:5 ") for row in rows)


def test_the_report_tells_what_was_compiled_later(workspace: Path) -> None:
    told = CliRunner().invoke(main, ["report"]).output
    assert "4.00 s (2.00 s of it in backends), and 3.00 s to compile backwards and kernels later\n" in told, told


def test_it_begins_with_the_part_of_the_compiler_that_took_most(workspace: Path) -> None:
    verdict = profile().splitlines()[1]
    assert verdict.startswith(
        "The largest part: 3.0 s (43%) in which AOTAutograd traces graphs for the forward and the backward. The first"
    ), verdict


STEP = {"compile_id": "0/1", "function": "step", "path": "/m.py", "line": 1}
STEP |= {"status": "compiled", "began": 0.0, "seconds": 0.0}


def spent(is_loaded: bool | None = None, of: dict[str, Any] | None = None, **parts: float) -> Spent:
    of = of or {}
    return Spent("step [0/1]", Compile(**{**STEP, **of}), parts, is_loaded)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ([spent(Dynamo=0.09)], []),
        ([spent(Dynamo=0.9)], ["The largest part: 900 ms (100%) in which Dynamo traces Python."]),
        (
            [spent(Dynamo=3.0), spent(Dynamo=1.0)],
            ["The largest part: 4.0 s (100%) in which Dynamo traces Python, 3.0 s of that for step [0/1]. Deep calls"],
        ),
        (
            [spent(guards=3.0, Dynamo=2.5, AOTAutograd=1.0, kernels=2.5)],
            ["No part of the compiler takes most of it: guards 3.0 s (33%), Dynamo 2.5 s (28%), kernels 2.5 s (28%)."],
        ),
        (
            [spent(True, kernels=3.0)],
            [
                "The largest part: 3.0 s (100%) in which code from torch's caches is loaded.",
                "Inductor took all of its code from torch's caches.",
            ],
        ),
        (
            [spent(False, kernels=3.0), spent(True, kernels=0.5)],
            [
                "The largest part: 3.5 s (100%) in which kernels are compiled or tuned, 3.0 s of that for step [0/1].",
                "Inductor took code for 1 of 2 compiles from torch's caches. "
                '`dynascope report --form 0/1 "cache key"` tells what is new for them.',
            ],
        ),
        (
            [spent(False, Inductor=3.0)],
            [
                "The largest part: 3.0 s (100%) in which Inductor writes code for graphs. Compile a part that repeats",
                "Inductor took nothing from torch's caches. "
                '`dynascope report --form 0/1 "cache key"` tells what is new for them.',
            ],
        ),
        (
            [spent(guards=3.0), spent(of={"reason": "x"}, guards=1.0), spent(of={"resumes_at": 4}, guards=2.0)],
            [
                "2.0 s (33%) for 1 rest of a function: `dynascope report` tells the graph breaks.",
                "The largest part: 6.0 s (100%) in which guards are built, 3.0 s of that for step [0/1]. `dyn",
            ],
        ),
        (
            [spent(backend=3.0), spent(of={"reason": "x"}, backend=1.0), spent(of={"reason": "y"}, backend=2.0)],
            [
                "3.0 s (50%) for 2 recompiles: `dynascope report` tells the causes.",
                "The largest part: 6.0 s (100%) in which the backend compiles graphs, 3.0 s of that for step [0/1].",
            ],
        ),
        (
            [spent(**{"other ranks": 2.0})],
            ["The largest part: 2.0 s (100%) in which Dynamo waits for other ranks. While the job runs"],
        ),
    ],
)
def test_where_the_time_went_is_said_in_few_sentences(found: list[Spent], told: list[str]) -> None:
    sentences = where_time_went(found)
    assert [each[: len(begins)] for each, begins in zip(sentences, told, strict=True)] == told


IN_PARTS = (
    "Compile a part that repeats instead of the whole, such as each block of a model: equal blocks share a compile."
)


@pytest.mark.parametrize(
    ("part", "happens", "advice"),
    [
        (
            "Dynamo",
            "Dynamo traces Python",
            "Deep calls and unrolled loops take long: the functions and lines that took longest are listed.",
        ),
        (
            "AOTAutograd",
            "AOTAutograd traces graphs for the forward and the backward",
            f"The first compile of a process also sets it up. {IN_PARTS}",
        ),
        ("Inductor", "Inductor writes code for graphs", IN_PARTS),
        ("backend", "the backend compiles graphs", IN_PARTS),
        (
            "kernels",
            "kernels are compiled or tuned",
            "A process that compiles the same again takes them from torch's caches.",
        ),
        (
            "guards",
            "guards are built",
            "`dynascope run --guards` measures what each guard costs.",
        ),
        (
            "other ranks",
            "Dynamo waits for other ranks",
            "While the job runs, `dynascope top` tells what the slowest rank compiles.",
        ),
    ],
)
def test_each_part_of_the_compiler_has_its_advice(part: str, happens: str, advice: str) -> None:
    sentence, *_ = where_time_went([spent(False, **{part: 2.0})])
    assert sentence == f"The largest part: 2.0 s (100%) in which {happens}. {advice}"


def test_what_dynamo_gave_up_is_not_counted_as_a_compile(workspace: Path) -> None:
    facts = sample.first_compile(*map(str, sample.write_workspace(workspace)))
    facts.compile.status, facts.compile.seconds, facts.profile = "skipped", 1.0, PROFILE
    facts.compile.compile_id, facts.graph_breaks, facts.backend_failures = "1/0", [], []
    writer = Writer(workspace / ".dynascope" / "facts.db", sample.new_run(workspace))
    writer.write(facts)
    writer.close()
    text = profile()
    assert text.startswith("1 compile, and 1 left uncompiled: 5.00 s") and "1/0], left uncompiled" in text, text
    result = CliRunner().invoke(main, ["report"])
    assert "\n1 compile, " in result.output


def test_json_has_the_trees(workspace: Path) -> None:
    (row,) = json.loads(profile("--json"))
    assert [root["seconds"] for root in row["trees"]] == [4.0, 3.0]
    report = json.loads(CliRunner().invoke(main, ["report", "--json", "--all"]).output)
    own, later = report["compiles"][0]["profile"]
    assert (own[0]["name"], later[0]["name"]) == ("dynamo", "entire_backward_compile")


def test_a_chrome_trace_has_phases_in_time_and_functions_beside_them(workspace: Path) -> None:
    profile("--chrome", "trace.json")
    events = [each for each in json.loads(Path("trace.json").read_text())["traceEvents"] if each["ph"] == "X"]
    placed = {(each["name"], each["tid"]): (each["ts"], each["dur"]) for each in events}
    assert placed["backend_compile", 1] == (1.5e6, 2e6) and placed["compile_attempt_1", 1] == (1e6, 2.75e6)
    assert placed["entire_backward_compile", 1] == (10e6, 3e6)
    assert placed["forward", 2] == (0.0, 0.875e6) and placed["attend", 2] == (0.5e6, 0.125e6)


def test_pstats_reads_the_export(workspace: Path) -> None:
    profile("--pstats", "compiles.prof")
    stats = pstats.Stats("compiles.prof").stats  # type: ignore[attr-defined]
    assert stats["/m.py", 9, "attend"] == (6, 6, 0.625, 0.625, {("/m.py", 3, "forward"): (6, 6, 0.625, 0.625)})
    assert stats["~", 0, "<backend_compile>"][:4] == (1, 1, 2.0, 2.0)


def test_a_launch_without_profiles_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNASCOPE_FACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    sample.write_sample(tmp_path)
    result = CliRunner().invoke(main, ["profile"])
    assert result.exit_code == 1 and "recorded without times" in result.output


def test_the_page_draws_a_flame_graph_whose_functions_lead_to_their_code(workspace: Path) -> None:
    result = CliRunner().invoke(main, ["report", "--html", "report.html"])
    assert result.exit_code == 0, result.output
    text = Path("report.html").read_text()
    assert "Where the time went" in text and "backend_compile: 2000.0 ms, 2000.0 ms of it in itself, 1 times" in text
    assert 'href="vscode://file/m.py:9"' in text and "attend: 500.0 ms" in text


@pytest.mark.parametrize(
    ("whole", "parts", "told"),
    [
        (
            9.0,
            {"Inductor": 5.0, "kernels": 3.0, "Dynamo": 0.95, "guards": 0.05},
            "9.0 s: Inductor 5.0, kernels 3.0, Dynamo 0.9",
        ),
        (239.0, {"Inductor": 185.0, "kernels": 38.0, "guards": 2.9}, "4.0 min: Inductor 3.1, kernels 0.6"),
        (2.0, {"Inductor": 1.94, "Dynamo": 0.04, "guards": 0.02}, "2.0 s"),
        (0.64, {"Dynamo": 0.64}, "640 ms"),
        (0.0, {}, "0 ms"),
    ],
)
def test_time_is_told_by_part_where_that_tells_something(whole: float, parts: dict[str, float], told: str) -> None:
    assert in_parts(whole, parts) == told
