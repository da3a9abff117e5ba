"""Say what programs of the corpora seldom have: a limit, other ranks, CUDA graphs, guards on the state of torch."""

from __future__ import annotations

import pytest
from dynascope.explain import breakpoints, guards, recompiles, stops, why
from dynascope.explain.compiles import totals
from dynascope.explain.kinds import KINDS
from dynascope.explain.remedies import remedies
from dynascope.facts import model
from dynascope.facts.recompiles.known import NOTHING
from msgspec.structs import replace


def test_titles_of_recompiles():
    assert recompiles.title("recompileLimit", "n", "f") == (
        "Recompile limit reached because of n: f runs uncompiled from here on"
    )
    assert recompiles.title("alsoFailed", "n", "f") == "n failed too when f was compiled again"


@pytest.mark.parametrize(
    ("outputs", "rest", "told"),
    [
        (None, [], "The graph ends at the return: no graph to call, 1 value to restore"),
        (2, ["f (7)"], "The graph ends at the return: 2 outputs, 1 value to restore, then f (7)"),
    ],
)
def test_the_end_of_a_graph(outputs: int | None, rest: list[str], told: str):
    assert stops.graph_end("return_value", [], outputs, 1, rest) == told


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ("TORCH_FUNCTION_MODE_STACK: ___check_torch_function_mode_stack()", "the modes that override torch functions"),
        ("GLOBAL_STATE: ___check_global_state()", "grad mode, autocast and other global state of torch"),
        ("AUTOGRAD_SAVED_TENSORS_HOOKS: top_saved_tensors_hooks ids == []", "hooks on saved tensors"),
    ],
)
def test_guards_on_the_state_of_torch(guard: str, told: str):
    assert guards.sentences([guard]) == [told]


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("cpu device (arg1_1)", "Move the tensor to the GPU before the call."),
        ("multiple devices: cuda:0, cuda:1", "Keep all tensors of the graph on one GPU."),
    ],
)
def test_why_there_are_no_cuda_graphs(reason: str, remedy: str):
    fact = model.CudaGraphsSkipped(path="model.py", line=7, reason=reason)
    assert KINDS["cudaGraphsSkipped"].problem(fact).remedies == [remedy]


def test_time_in_which_a_rank_waits_for_the_others():
    compiled = model.Compile(
        compile_id="0/0", path="model.py", line=7, function="step", status="compiled", began=0.0, seconds=3.0
    )
    waited = replace(compiled, rank_wait_seconds=2.0)
    assert "waiting for other ranks" not in totals([compiled], [])
    assert ", 2.00 s waiting for other ranks)" in totals([waited], [])


def test_a_function_that_was_not_seen_to_run():
    assert breakpoints.not_run("f", "", None) == "f was not seen to run after the breakpoint was set."
    told = breakpoints.not_run("f", " in this process", "x > 1")
    assert told == "f was not seen to run in this process, or its condition (x > 1) never held."


def test_compiles_of_other_objects_count_for_a_limit_of_their_own():
    assert "2 of 8 compiles (torch._dynamo.config.recompile_limit). After that, " in why.limit(2, 8, 2, 256)
    assert "recompile_limit; with those for other objects 5, of at most 256). After" in why.limit(2, 8, 5, 256)


def test_numbers_stay_fixed_where_nothing_becomes_dynamic():
    (remedy,) = remedies(["n == 2"], [], replace(NOTHING, dynamic=False))
    assert remedy.startswith("Dynamo makes no number dynamic while `torch._dynamo.config.automatic_dynamic_shapes` is")
