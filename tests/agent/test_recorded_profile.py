"""The profile that is recorded: all of a compile's time, by function and phase."""

from __future__ import annotations

import time

import pytest
import torch
import torch._dynamo.utils
from dynascope.agent.recorder.recorder import Recorder
from dynascope.agent.recorder.trace import Trace
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts
from dynascope.facts.profile import Profile, tree
from torch._guards import CompileId

pytestmark = pytest.mark.second_leg


def inner(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = torch.sin(x) * 2
    return x


def outer(x: torch.Tensor) -> torch.Tensor:
    y = inner(x)
    torch._dynamo.graph_break()
    return inner(y) + inner(x)


class Recording:
    """Compiles while they are recorded."""

    def __init__(self) -> None:
        self.compiles: list[CompileFacts] = []
        self.later: list[tuple[str, Profile]] = []
        self._recorder = Recorder(
            lambda facts, trails: self.compiles.append(facts),
            lambda compile_id, profile: self.later.append((compile_id, profile)),
            pytest.fail,
            Board(),
        )
        torch._dynamo.reset()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.remove()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_the_parts_add_up_to_the_time_of_the_compile(backend: str) -> None:
    with Recording() as recording:
        torch.compile(outer, backend=backend)(torch.ones(8, requires_grad=True))
    assert len(recording.compiles) == 2
    for facts in recording.compiles:
        assert facts.profile is not None
        roots = tree(facts.profile)
        parts = [node for root in roots for node in root.walk()]
        outside = facts.compile.seconds - sum(node.own for node in parts)  # before and after torch's outermost phase
        assert 0 <= outside < facts.compile.seconds / 2
        assert {"dynamo", "compile_attempt", "backend_compile", "build_guards"} <= {node.name for node in parts}
        traced = sum(function.seconds for function in facts.profile.functions)
        lines = sum(line.seconds for line in facts.line_times)
        assert lines <= traced <= facts.compile.seconds - facts.compile.backend_seconds


def test_the_line_that_ends_a_graph_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pause = Trace.pause

    def later(trace: Trace) -> None:
        time.sleep(0.6)
        pause(trace)

    monkeypatch.setattr(Trace, "pause", later)
    with Recording() as recording:
        torch.compile(inner, backend="eager")(torch.ones(8))
    [facts] = recording.compiles
    assert facts.profile is not None
    assert sum(function.seconds for function in facts.profile.functions) <= facts.compile.seconds
    assert sum(line.seconds for line in facts.line_times) <= facts.compile.seconds


def test_functions_are_one_row_for_each_line_that_calls_them() -> None:
    with Recording() as recording:
        torch.compile(outer, backend="eager")(torch.ones(8))
    first, rest = (each.profile for each in recording.compiles)
    assert first is not None and rest is not None
    line = outer.__code__.co_firstlineno
    rows = [(each.parent, each.function, each.call_line - line, each.count) for each in first.functions]
    assert rows == [(-1, "outer", -line, 2), (0, "inner", 1, 2)]  # the attempt that met the break, and the next
    rows = [(each.parent, each.function, each.call_line - line, each.count) for each in rest.functions]
    assert rows == [(-1, "outer", -line, 1), (0, "inner", 3, 2)]


def test_a_backward_that_is_compiled_later_belongs_to_its_compile() -> None:
    timed = torch._dynamo.utils.dynamo_timed
    with Recording() as recording:
        torch.compile(outer, backend="eager")(torch.ones(8))
        compile_id = CompileId(frame_id=0, frame_compile_id=0)
        with timed("entire_backward_compile", compile_id=compile_id), timed("inductor_compile"):
            pass
        with timed("autotune", compile_id=CompileId(frame_id=7, frame_compile_id=0)):  # not recorded
            pass
    ((name, profile),) = recording.later
    assert (name, [each.name for each in profile.phases]) == ("0/0", ["entire_backward_compile", "inductor_compile"])
