"""The report begins with what to mend first, and one problem can be asked for in full."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dynascope.cli import main
from dynascope.explain.coming_recompiles import not_yet_met
from dynascope.explain.graph_breaks import set_called
from dynascope.explain.of_launch import set_roots
from dynascope.explain.problem import Note, Place, Problem
from dynascope.explain.ranking import ranking
from dynascope.explain.remedies import USUAL
from dynascope.facts import model
from dynascope.facts.file_names import is_of_library
from dynascope.report.told_as_json import schema
from msgspec import structs

from tests.support.facts import sample
from tests.support.report_schema import PATH


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DYNASCOPE_FACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    sample.write_sample(tmp_path)
    return tmp_path


def dynascope(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def problem(id: str, kind: str = "recompile", path: str = "train.py", root: str = "", *compiles: int) -> Problem:
    return Problem(
        id=id, kind=kind, cause=id, title=id, place=Place(path, 3), compiles=[*compiles], root=root, function="f"
    )


def compile(id: int, seconds: float, resumes_at: int | None = None) -> model.Compile:
    return model.Compile(
        id=id,
        compile_id=f"0/{id}",
        function="f",
        path="train.py",
        line=1,
        status="graph",
        began=0.0,
        seconds=seconds,
        resumes_at=resumes_at,
    )


def test_failures_come_first_then_what_takes_most_time():
    compiles = [compile(0, 9.0), compile(1, 1.0), compile(2, 3.0), compile(3, 2.0, resumes_at=3)]
    short, long = problem("short", "recompile", "train.py", "", 1), problem("long", "recompile", "train.py", "", 2)
    broken, failed = problem("broken", "graphBreak"), problem("failed", "backendFailure")
    after, fixed = problem("after", "recompile", "train.py", "broken", 3), problem("fixed", "specialization")
    library = problem("library", "graphBreak", "/venv/lib/python3.12/site-packages/torch/nn/functional.py")
    found = ranking([short, broken, after, long, fixed, library, failed], compiles)
    assert [each.problem.id for each in found.first] == ["failed", "long", "broken", "short"]
    assert [each.seconds for each in found.first] == [0.0, 3.0, 2.0, 1.0]
    assert found.first[2].follow == [after]
    assert (found.counted, found.in_libraries) == ([fixed], [library])
    step = problem("lr", "recompile", "/venv/lib/python3.12/site-packages/torch/optim/sgd.py", "", 1)
    assert [each.problem for each in ranking([step], compiles).first] == [step]
    assert is_of_library("/usr/lib/python3.12/copy.py") and not is_of_library("/home/lib/train.py")


def test_what_every_call_compiles_again_comes_before_what_takes_long():
    compiles = [compile(1, 1.0), compile(2, 9.0)]
    counted, sized = (
        problem("self.step", "recompile", "train.py", "", 1),
        problem("size", "recompile", "train.py", "", 2),
    )
    coming = problem("self.step will not be 3", "willRecompile", "train.py", "", 1)
    found = ranking([sized, coming, counted], compiles)
    assert [(each.problem.id, each.follow) for each in found.first] == [("self.step", [coming]), ("size", [])]


def test_a_break_that_leaves_a_function_uncompiled_is_charged_with_what_is_compiled_there():
    def called(id: int, name: str, function: str, seconds: float) -> model.Compile:
        return structs.replace(compile(id, seconds), compile_id=name, function=function)

    broken = problem("broken", "graphBreak")
    broken.leaves, broken.compiles = [1], [1]
    compiles = [called(1, "0/0", "f", 9.0), called(2, "1/0", "g", 2.0), called(3, "1/1", "g", 4.0)]
    compiles += [called(4, "2/0", "h", 8.0), called(5, "3/0", "k", 1.0)]
    callers = {1: "main", 2: "f", 3: "f", 4: "main", 5: "f"}
    calls = {number: model.CompiledCall([], "train.py", 7, name) for number, name in callers.items()}
    set_called([broken], {each.id: each for each in compiles}, calls.get)
    assert broken.leads_to == [2, 3, 5] and broken.calls == []
    assert [each.text for each in broken.notes] == [
        "what runs uncompiled calls g and k, which are compiled by themselves"
    ]
    assert [each.seconds for each in ranking([broken], compiles).first] == [7.0]


def test_the_rest_of_a_function_that_runs_uncompiled_calls_too():
    broken = problem("broken", "graphBreak")
    broken.leaves = broken.compiles = [2]
    rest = structs.replace(compile(2, 1.0, resumes_at=3), function="Net.forward")
    compiles = [structs.replace(compile(1, 1.0), function="Net.forward"), rest]
    compiles += [structs.replace(compile(3, 1.0), function="g"), structs.replace(compile(4, 1.0), status="skipped")]
    caller = model.CompiledCall([], "train.py", 9, "torch_dynamo_resume_in_forward_at_3")
    set_called([broken], {each.id: each for each in compiles}, {3: caller, 4: caller}.get)
    assert broken.leads_to == [3]
    assert [each.text for each in broken.notes] == ["what runs uncompiled calls g, which is compiled by itself"]


def test_what_is_called_where_a_callee_breaks_follows_from_the_break():
    """`main` calls `f` at line 9, and `f` calls `hook` at line 3, which breaks: `hook` is then compiled by itself."""
    broken = problem("broken", "graphBreak", "train.py", "", 1, 2)
    places = [Place("train.py", 3), Place("train.py", 9)]
    broken.notes = [Note(kind="caller", text="called from", place=each) for each in places]
    compiles = [structs.replace(compile(number, 1.0), compile_id=f"{number - 1}/0") for number in range(1, 5)]
    lines = {1: 9, 2: 3, 3: 3, 4: 9}
    calls = {number: model.CompiledCall([], "train.py", line, "f") for number, line in lines.items()}
    set_called([broken], {each.id: each for each in compiles}, calls.get)
    assert broken.leads_to == broken.calls == [2, 3]
    sized, other = problem("sized", "recompile", "train.py", "", 3), problem("other", "recompile", "train.py", "", 4)
    set_roots([broken], [sized, other])
    assert (sized.root, other.root) == ("broken", "")


def test_nothing_is_coming_once_the_value_is_dynamic():
    guard = model.VaryingGuard(
        compile=1, path="train.py", line=3, kind="set", expression="L['self'].step", value="0", guard_of="0/1"
    )
    symbol = model.Symbol(path="", line=0, name="s1", hint="1", low="0", high="oo", origins=["L['self'].step"])
    compiles = {1: compile(1, 1.0), 2: compile(2, 1.0), 3: compile(3, 1.0, resumes_at=4)}
    assert not_yet_met([guard], [], compiles, lambda number: []) == [guard]
    assert not_yet_met([guard], [], compiles, lambda number: [symbol] if number == 1 else []) == [guard]
    assert not_yet_met([guard], [], compiles, lambda number: [symbol] if number == 2 else []) == []
    symbol.replacement = "3"  # it became a constant
    assert not_yet_met([guard], [], compiles, lambda number: [symbol] if number == 2 else []) == [guard]


def test_the_report_is_short_and_says_what_helps(workspace: Path):
    lines = dynascope("report").splitlines()
    assert len(lines) <= 20
    assert lines[0].startswith("train.py --steps 2  ") and "2 compiles" in lines[1]
    (broken,) = [number for number, line in enumerate(lines) if "Graph break: Data-dependent branching" in line]
    assert lines[broken].startswith("layers.py:5 ") and "  GB0170-" in lines[broken]
    assert lines[broken + 1].strip() == "if h.sum() > 0:" and "torch.cond" in lines[broken + 2]
    assert "  no kernel for aten::frobnicate" in lines
    assert any(line.startswith("also: 1 specialization") for line in lines)
    assert lines[-2:] == [
        "One in full: dynascope explain ID, or FILE:LINE. All: dynascope report --all",
        "Where the time went: dynascope profile",
    ]


def test_a_file_is_taken_for_its_newest_launch(workspace: Path):
    (workspace / "train.py").write_text("")
    assert "dynascope report --launch train.py" in dynascope("report", "train.py", fails=True)
    told = dynascope("report", "--launch", "train.py").splitlines()
    assert (
        told[0].startswith("train.py --steps 2") and "dynascope explain ID --launch train.py, or FILE:LINE" in told[-2]
    )


def test_one_problem_in_full(workspace: Path):
    shown = dynascope("report").splitlines()
    identity = next(line.split()[-1] for line in shown if "Graph break: " in line)
    told = dynascope("explain", identity)
    assert "called from model.py:8" in told and "❱ 5" in told
    assert dynascope("explain", identity[:9]) == told == dynascope("explain", "layers.py:5")
    assert dynascope("explain", str(workspace / "layers.py")).startswith(told)
    message = dynascope("explain", "layers.py:1", fails=True)
    assert "There is no problem layers.py:1 in the launch of train.py --steps 2. See: dynascope report" in message
    assert "There is no problem" in dynascope("explain", "", fails=True)


def test_json_has_a_schema_and_the_problems_to_be_mended_first(workspace: Path):
    told = json.loads(dynascope("report", "--json"))
    jsonschema.validate(told, json.loads(PATH.read_bytes()))
    assert (told["program"], told["compiles"], told["left_out"]) == ("train.py --steps 2", 2, 0)
    kinds = [each["kind"] for each in told["problems"]]
    assert kinds[0] == "backendFailure" and {"graphBreak", "recompile", "specialization", "skippedFrame"} < {*kinds}
    assert PATH.read_bytes() == schema(), "make report-schema"


def test_a_compile_for_evaluation_comes_last():
    usual, sized = problem("grad_mode", "recompile", "train.py", "", 1), problem("size", "recompile", "train.py", "", 2)
    usual.remedies = [USUAL]
    found = ranking([usual, sized], [compile(1, 9.0), compile(2, 1.0)])
    assert [each.problem.id for each in found.first] == ["size", "grad_mode"]
