"""With `--guards` what guards cost, what filters would drop and what a package could save is recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.guards.tree import cache_entries, lines
from dynascope.agent.recorder.recorder import Recorder
from dynascope.agent.speculation.rebuilt_guards import on_the_side
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts
from torch._dynamo import guards as dynamo_guards

SCALE = 3

PROGRAM = """\
import torch

SCALE = 3

def f(x):
    class Local:
        pass
    return g(x, Local())

@torch.compile(backend="eager")
def g(x, local):
    return x * SCALE if isinstance(local, object) and not hasattr(local, "y") else x

f(torch.ones(3))
f(torch.ones(4))
"""


def scaled(x: Any) -> Any:
    return x * SCALE if x.shape[0] > 2 else x


def kept(function: Callable[..., Any], *calls: Any, **options: Any) -> tuple[list[CompileFacts], list[Any]]:
    """What is recorded, and the results."""
    torch._dynamo.reset()
    found: list[CompileFacts] = []
    recorder = Recorder(
        lambda facts, trails: found.append(facts),
        lambda compile_id, what: None,
        pytest.fail,
        Board(),
        keeps_guard_costs=True,
    )
    compiled = torch.compile(function, backend="eager", **options)
    try:
        return found, [compiled(each) for each in calls]
    finally:
        recorder.remove()


def test_the_guards_are_those_that_torch_evaluates():
    found, results = kept(scaled, torch.ones(3), torch.ones(5))
    assert [each.tolist() for each in results] == [[3.0] * 3, [3.0] * 5]
    entries = {entry.compile_id: entry for entry in cache_entries(scaled.__code__)}
    assert len(found) == 2
    for facts in found:
        costs = facts.guard_costs
        assert costs is not None and costs.lookup is not None
        torchs = [str(line) for line in lines(entries[facts.compile.compile_id].guards)]
        assert sorted(f"{'| ' * each.depth}+- {each.text}" for each in costs.guards) == sorted(torchs)
        assert costs.guards[0].total == costs.lookup
        assert sum(each.own or 0.0 for each in costs.guards) == pytest.approx(costs.lookup, rel=0.01)


def test_filters_and_ways_to_save_are_tried():
    found, _ = kept(scaled, torch.ones(3))
    costs = found[0].guard_costs
    assert costs is not None
    number = sum(each.is_guard for each in costs.guards)
    by_name = {each.name: each for each in costs.filters}
    on_globals = by_name["skip_guard_on_globals_unsafe"]
    assert on_globals.guards < number
    assert any(text.startswith("SCALE must be 3") for text in on_globals.could_change)
    assert [each.way for each in costs.saved] == ["aot_compile", "caching_precompile"]
    assert all("Loaded again, they are true" in each.outcome for each in costs.saved)
    assert "a lookup" in costs.text and "what torch would save" in costs.text


def in_two_parts(x: Any) -> Any:
    y = x * SCALE
    torch._dynamo.graph_break()
    return y + x


def test_the_rest_of_a_function_after_a_graph_break_has_costs_too():
    found, _ = kept(in_two_parts, torch.ones(3))
    assert [facts.compile.resumes_at is not None for facts in found] == [False, True]
    for facts in found:
        costs = facts.guard_costs
        assert costs is not None and costs.lookup is not None and costs.filters and costs.saved


def break_and_return(x: Any) -> Any:
    torch._dynamo.graph_break()
    return x


def test_a_frame_whose_guards_are_on_nothing_that_differs_has_costs():
    found, _ = kept(break_and_return, torch.ones(3))
    costs = found[0].guard_costs
    assert costs is not None and costs.filters and costs.saved
    assert "skip_guard_eval_unsafe" not in {each.name for each in costs.filters}
    assert "With skip_guard_eval_unsafe torch would find no compiled code" in costs.text


class Finalized:
    """Tells how it ends."""

    scale = 3
    ends: ClassVar[list[str]] = []

    def __del__(self) -> None:
        self.ends.append(type(self).__name__)


class FinalizedWithSlots(Finalized):
    __slots__ = ("more",)


class FinalizedDictionary(Finalized, dict):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize("kind", [Finalized, FinalizedWithSlots, FinalizedDictionary])
def test_copies_that_are_made_to_try_saving_are_not_finalized(kind: type[Finalized]):
    def scaled_by(x: Any) -> Any:
        return x * owner.scale

    owner = kind()
    Finalized.ends.clear()
    found, _ = kept(scaled_by, torch.ones(3))
    costs = found[0].guard_costs
    assert costs is not None and any("Loaded again" in each.outcome for each in costs.saved)
    assert Finalized.ends == []


def test_guards_that_the_programs_filter_drops_are_no_facts():
    def no_globals(entries: Any) -> list[bool]:
        return [not entry.is_global for entry in entries]

    everything, _ = kept(scaled, torch.ones(3))
    found, _ = kept(scaled, torch.ones(3), options={"guard_filter_fn": no_globals})
    assert any("SCALE" in each.expression for each in everything[0].guards)
    assert found[0].guards and not any("SCALE" in each.expression for each in found[0].guards)
    costs = found[0].guard_costs
    assert costs is not None and "It was compiled with a filter" in costs.text


@pytest.mark.matrix
def test_the_report_has_them(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def dynascope(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dynascope", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300
        )

    assert dynascope("run", "program.py").returncode == 0
    missing = dynascope("report", "--guards", "0/0")
    assert missing.returncode == 1 and "dynascope run --guards" in missing.stderr

    ended = dynascope("run", "--guards", "program.py")
    assert (ended.returncode, ended.stderr) == (0, "")
    told = dynascope("report", "--guards", "0/0").stdout
    assert "g [0/0] guards: " in told and "TENSOR_MATCH: check_tensor(L['x']" in told
    assert "skip_guard_on_globals_unsafe: SCALE (program.py:12)" in told
    first, *_ = json.loads(dynascope("report", "--json", "--all").stdout)["compiles"]
    costs = first["guard_costs"]
    assert costs["lookup"] > 0 and any("check_tensor(L['x']" in each["text"] for each in costs["guards"])
    assert [each["name"] for each in costs["filters"]][-1] == "skip_guard_eval_unsafe"
    (refused,) = costs["saved"][0]["refused"]
    assert refused["reason"] == "The class __main__.f.<locals>.Local is defined in a function."


def test_graphs_and_guards_are_not_both_chosen(tmp_path: Path):
    (tmp_path / "program.py").write_text("print('ran')")
    ended = subprocess.run(
        [sys.executable, "-m", "dynascope", "run", "--no-graphs", "--guards", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 2 and "not both" in ended.stderr


@pytest.mark.parametrize("is_made_before", [False, True])
def test_guards_built_on_the_side_leave_no_values_to_those_of_the_program(
    is_made_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With torch 2.11 values of the frame are added to what all guards built later are given."""
    monkeypatch.setattr(dynamo_guards, "_CLOSURE_VARS", {"tmp": 1} if is_made_before else None)
    with on_the_side():
        dynamo_guards._get_closure_vars().update(tmp=2, tmp0=3)
    names = dynamo_guards._get_closure_vars()
    assert (names.get("tmp"), "tmp0" in names) == (1 if is_made_before else None, False)
