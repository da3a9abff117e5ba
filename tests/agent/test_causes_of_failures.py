"""Failures and breaks are placed where they are, with what caused them: bodies of operators, symbols, other tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import msgspec
import torch
from dynascope.explain.failures import failed_compiles
from dynascope.explain.graph_breaks import graph_breaks
from dynascope.explain.kinds import specialization
from dynascope.explain.of_launch import apart
from dynascope.explain.problem import Identities, Problem
from dynascope.facts.model import CompileFacts
from dynascope.facts.recompiles.guarded_value import guarded_value
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils.checkpoint import checkpoint

from tests.support.agent.recording import numbered, recording
from tests.support.agent.scripted_session import ScriptedSession

pytestmark = pytest.mark.second_leg
X = torch.arange(6.0)
COUNTS = {"calls": 0}
BIAS = torch.ones(6)


@torch.library.custom_op("dynascope_tests::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def counts(x: torch.Tensor) -> torch.Tensor:
    COUNTS["calls"] += 1  # fails: counts
    return x.sin()


def chooses(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, counts, torch.cos, (x,))


def halves(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return half(y) + 1  # fails: halves


def region(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    torch._dynamo.graph_break()  # breaks: region
    return y + 1


def checkpoints(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    return checkpoint(region, y, use_reentrant=False) * 2


def keeps(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    number = mask.sum().item()  # makes: number
    head = x[mask][:number]  # makes: head
    return head * 2 if head.shape[0] == number else head


def adds(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + BIAS  # fixes: adds


def line(label: str) -> int:
    text = inspect.getsource(inspect.getmodule(line))  # type: ignore[arg-type]
    return next(number for number, each in enumerate(text.splitlines(), 1) if each.endswith(f"# {label}"))


def recorded(
    function: Callable[..., Any], *arguments: Any, error: type[Exception] | None = None, **options: Any
) -> list[CompileFacts]:
    torch._dynamo.reset()
    with recording() as found:
        run = torch.compile(function, backend="eager", **options)
        if error is None:
            run(*arguments)
        else:
            with pytest.raises(error):
                run(*arguments)
    numbered(found)
    return found


def test_a_failure_without_a_text() -> None:
    (facts, *_) = recorded(lambda x: x + 1, torch.ones(3))
    without = msgspec.structs.replace(facts.compile, status="failed", failure=None)
    (problem,) = failed_compiles([without], Identities(lambda source: []))
    assert problem.statement == "Dynamo gives no reason."


def failure(found: list[CompileFacts]) -> Problem:
    (problem,) = failed_compiles([found[0].compile], Identities(lambda source: []))
    return problem


def breaks(found: list[CompileFacts]) -> list[Problem]:
    symbols = {(each.compile.id, symbol.name): symbol for each in found for symbol in each.symbols}
    facts = [fact for each in found for fact in each.graph_breaks]
    for each in found:
        for fact in each.graph_breaks:
            fact.compile = each.compile.id
    compiles = {each.compile.id: each.compile for each in found}
    return graph_breaks(
        apart(facts), compiles, Identities(lambda source: []), symbols=lambda number, name: symbols.get((number, name))
    )


def test_what_fails_in_the_body_of_an_operator_is_there() -> None:
    problem = failure(recorded(chooses, X, error=torch._dynamo.exc.UncapturedHigherOrderOpError))
    assert (problem.place.path, problem.place.line) == (__file__, line("fails: counts"))
    assert problem.title == "Could not compile chooses: Unsafe side effect in torch.cond"
    assert problem.registry_id == "GB0067"
    assert [note.subject for note in problem.notes] == ["counts", "chooses"]


def test_an_operator_without_a_fake_is_told_with_the_remedy() -> None:
    problem = failure(recorded(halves, X, error=torch._dynamo.exc.TorchRuntimeError))
    assert problem.place.line == line("fails: halves")
    assert problem.cause.startswith("RuntimeError: There was no fake impl registered for")
    assert "register_fake" in problem.remedies[0]


def test_a_break_in_a_checkpointed_region_leaves_the_region_uncompiled() -> None:
    found = recorded(checkpoints, X.clone().requires_grad_())
    assert [each.compile.function for each in found] == ["checkpoints", "checkpoints"], "region is not compiled"
    (problem,) = breaks(found)
    assert problem.place.line == line("breaks: region")
    assert problem.effect == "a graph ends before the checkpointed region that this line is in, which runs uncompiled"


def test_symbols_of_a_data_dependent_expression_are_told_with_their_lines() -> None:
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        found = recorded(keeps, X, X > 2, error=torch._dynamo.exc.UserError, fullgraph=True)
    (problem,) = breaks(found)
    assert problem.title.startswith("Graph break: Could not guard on data-dependent expression Eq(u")
    origins = [note.place.line for note in problem.notes if note.kind == "symbol" and note.place is not None]
    assert sorted(origins) == [line("makes: number"), line("makes: head")]
    assert "TORCH_LOGS" not in " ".join(problem.details) and "torch._check" in problem.remedies[0]


def test_a_size_that_is_fixed_is_told_with_the_tensor_that_it_meets() -> None:
    x = X.clone()
    torch._dynamo.mark_dynamic(x, 0)
    found = recorded(adds, x, error=ConstraintViolationError)
    (fact,) = found[0].specializations
    assert (fact.line, fact.beside) == (line("fixes: adds"), "BIAS: f32[6]")
    assert specialization(fact).cause == "x.size()[0] = 6, like BIAS: f32[6]"
    assert failure(found).place.line == line("fixes: adds")


class Tagged(torch.Tensor):
    """A tensor with metadata that guards compare."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor, tag: int) -> Tagged:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)  # type: ignore[attr-defined]

    def __init__(self, inner: torch.Tensor, tag: int) -> None:
        self.inner, self.tag = inner, tag

    def __tensor_flatten__(self) -> tuple[list[str], int]:
        return ["inner"], self.tag

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], tag: int, size: Any, stride: Any) -> Tagged:
        return Tagged(inner["inner"], tag)

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        tag = next(each.tag for each in arguments if isinstance(each, Tagged))
        plain = [each.inner if isinstance(each, Tagged) else each for each in arguments]
        return Tagged(function(*plain, **(options or {})), tag)


def doubles(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_metadata_of_a_tensor_subclass_is_named() -> None:
    torch._dynamo.reset()
    with recording() as found:
        run = torch.compile(doubles, backend="eager")
        for tag in (1, 2):
            run(Tagged(torch.ones(3), tag))
    (failed,) = found[1].recompiles
    assert guarded_value(failed.guard).text == "metadata of x"
    assert failed.value is None


@pytest.mark.parametrize(
    ("function", "error", "frames", "told"),
    [
        (chooses, torch._dynamo.exc.UncapturedHigherOrderOpError, ["counts", "chooses"], "an operator's body"),
        (halves, torch._dynamo.exc.TorchRuntimeError, ["halves"], "register_fake"),
        (checkpoints, None, ["region", "checkpoints"], "the checkpointed region that this line is in"),
    ],
)
def test_the_filter_stops_in_the_body_of_an_operator(
    function: Callable[..., Any], error: type[Exception] | None, frames: list[str], told: str
) -> None:
    session = ScriptedSession()
    session.catch("graphBreak")
    with session.attached():
        recorded(function, X.clone().requires_grad_(), error=error)
    shown = [frame.name.partition(" ")[0] for frame in session.stops[0].frames]
    assert [name for name in shown if name in ("counts", "chooses", "halves", "region", "checkpoints")] == frames
    exception = session.stops[0].message.exception
    assert exception is not None and told in exception.description
