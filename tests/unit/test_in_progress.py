"""What a compile is busy with is told by torch's phases."""

from __future__ import annotations

import pytest
from dynascope.explain import in_progress
from dynascope.facts.in_progress import TracingPlace
from msgspec.structs import replace

PLACE = TracingPlace("model.py", 7, "forward", 0.0)


@pytest.mark.parametrize(
    ("phases", "backend", "told"),
    [
        (["dynamo"], "", "Dynamo works on the function"),
        (["dynamo", "build_guards"], "", "Dynamo builds the guards"),
        (["dynamo", "compiler_collective.gather"], "", "Dynamo waits for the other ranks"),
        (["dynamo", "backend_compile"], "mine", "the backend mine compiles the graph that ends at model.py:7"),
        (["dynamo", "backend_compile"], "", "the backend compiles the graph that ends at model.py:7"),
        (["aot_collect_metadata"], "", "AOTAutograd prepares the graph that ends at model.py:7"),
        (["compile_fx_inner"], "", "Inductor compiles the graph that ends at model.py:7"),
        (
            ["compile_fx_inner", "pass.post_grad_passes.remove_noop_ops"],
            "",
            "Inductor runs its pass remove_noop_ops of post_grad_passes over the graph that ends at model.py:7",
        ),
        (
            ["compile_fx_inner", "async_compile.wait"],
            "",
            "Inductor compiles or tunes kernels for the graph that ends at model.py:7",
        ),
        (
            ["compile_fx_inner", "a phase that torch adds"],
            "",
            "Inductor compiles the graph that ends at model.py:7",
        ),
    ],
)
def test_a_phase_of_torch(phases: list[str], backend: str, told: str):
    assert in_progress.doing(phases, backend, PLACE, str) == told


def test_a_line_that_is_traced():
    told = in_progress.doing(["dynamo", "bytecode_tracing"], "", PLACE, str)
    assert told == "Dynamo traces model.py:7 in forward"
    within = in_progress.doing([], "", replace(PLACE, library=("torch/nn/linear.py", 9, "Linear.forward", 0.0)), str)
    assert within == "Dynamo traces model.py:7 in forward, which calls Linear.forward (torch/nn/linear.py:9)"
    assert in_progress.progress("forward [0/0]", 1200, "model.py:7", None) == (
        "Dynamo traces forward [0/0], now at model.py:7: 1,200 nodes so far"
    )
    assert in_progress.progress("forward [0/0]", 12, "", "inductor") == "inductor compiles forward [0/0]: 12 nodes"


def test_a_process_that_compiles_nothing():
    assert in_progress.idle(0, "", "") == "It compiles nothing now. 0 compiles have ended."
    assert in_progress.idle(1, "forward [0/0]", "3 s") == (
        "It compiles nothing now. 1 compile has ended; the last was forward [0/0], 3 s ago."
    )
