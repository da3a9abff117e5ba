"""Why a backward is captured again: the node that is new, and what of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from dynascope import compiled_autograd
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.second_leg

Tensor = torch.Tensor


def eager(graph: Any) -> Any:
    return graph


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.ones(*shape, dtype=dtype, requires_grad=True)


def with_grad(shape: int) -> Tensor:
    made = leaf(shape)
    made.grad = torch.zeros(shape)
    return made


def with_tensor_hook(shape: int) -> Tensor:
    made = leaf(shape)
    made.register_hook(lambda gradient: gradient)
    return made


def with_post_hook(shape: int) -> Tensor:
    made = leaf(shape)
    made.register_post_accumulate_grad_hook(lambda parameter: None)
    return made


def node_hook(kind: str) -> None:
    made = leaf(3) * 2
    node: Any = made.grad_fn
    {"pre_hook": node.register_prehook, "post_hook": node.register_hook}[kind](lambda *gradients: None)
    made.sum().backward()


def unpacked() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        loss = leaf(3).exp().sum()
    loss.backward()


def gradients_of(count: int) -> None:
    one, two = leaf(3), leaf(3)
    torch.autograd.grad((one * two).sum(), [one, two][:count])


AGAIN: dict[str, tuple[Callable[[], Any], Callable[[], Any], str]] = {
    "grad": (
        lambda: (leaf(3) * 2).sum().backward(),
        lambda: (with_grad(3) * 2).sum().backward(),
        "!0 has the same node there, but `.grad`: None there, float32 on cpu here",
    ),
    "tensor hook": (
        lambda: (leaf(3) * 2).sum().backward(),
        lambda: (with_tensor_hook(3) * 2).sum().backward(),
        "!0 has the same node there, but tensor_pre_hooks: none there, 1 here",
    ),
    "post-accumulate hook": (
        lambda: (with_post_hook(3) * 2).sum().backward(),
        lambda: (leaf(3) * 2).sum().backward(),
        "!0 has the same node there, but post_acc_grad_hooks: 1 there, none here",
    ),
    "pre-hook": (
        lambda: (leaf(3) * 2).sum().backward(),
        lambda: node_hook("pre_hook"),
        "!0 has the same node there, but pre_hooks: none there, 1 here",
    ),
    "post-hook": (
        lambda: node_hook("pre_hook"),
        lambda: node_hook("post_hook"),
        "!0 has the same node there, but pre_hooks: 1 there, none here; post_hooks: none there, 1 here",
    ),
    "unpack hook": (
        lambda: leaf(3).exp().sum().backward(),
        unpacked,
        "!0 has the same node there, but unpack_hooks: none there, 1 here",
    ),
    "dtype": (
        lambda: leaf(3).sum().backward(),
        lambda: leaf(3, dtype=torch.float64).sum().backward(),
        "!0 has the same node there, but gradients it makes: "
        "0-dimensional float32 on cpu there, 0-dimensional float64 on cpu here",
    ),
    "dimensions": (
        lambda: leaf(3).exp().sum().backward(),
        lambda: leaf(3, 3).exp().sum().backward(),
        "!0 has the same node there, but length of self_sym_sizes: 1 there, 2 here; gradients it makes: "
        "1-dimensional float32 on cpu there, 2-dimensional float32 on cpu here",
    ),
    "float argument": (
        lambda: torch.nn.functional.leaky_relu(leaf(3), 0.1).sum().backward(),
        lambda: torch.nn.functional.leaky_relu(leaf(3), 0.2).sum().backward(),
        "!0 has the same node there, but negative_slope: 0.1 there, 0.2 here",
    ),
    "whole argument": (
        lambda: leaf(3, 3).sum(0).sum().backward(),
        lambda: leaf(3, 3).sum(1).sum().backward(),
        "!0 has the same node there, but dim: (0,) there, (1,) here",
    ),
    "gradients asked for": (
        lambda: gradients_of(2),
        lambda: gradients_of(1),
        "!0 has the same node there, but tensors that gradients are asked for: 2 there, 1 here",
    ),
    "grad or backward": (
        lambda: torch.autograd.grad((one := leaf(3)).exp().sum(), [one]),
        lambda: (one := leaf(3)).exp().sum().backward(inputs=[one]),
        "!0 has the same node there, but its gradient: returned there, added to `.grad` here",
    ),
    "a node more": (
        lambda: leaf(3).exp().sum().backward(),
        lambda: leaf(3).exp().tanh().sum().backward(),
        "like !0 up to there, which continues with ExpBackward0",
    ),
}


@pytest.fixture(params=AGAIN)
def again(request: pytest.FixtureRequest) -> tuple[Callable[[], Any], Callable[[], Any], str]:
    return AGAIN[request.param]


def test_what_is_new_is_said(again: tuple[Callable[[], Any], Callable[[], Any], str]):
    first, second, expected = again
    with compiled_autograd.enable(eager) as runs:
        for step in (first, second, first, second):
            step()
    assert [run.captured for run in runs] == [True, True, False, False]
    assert runs[0].reasons[1] == "the first of its kind: no backward in the cache begins like this one"
    assert runs[1].reasons[1] == expected


def test_what_is_new_is_found_where_torch_is_not_asked(again: tuple[Callable[[], Any], Callable[[], Any], str]):
    first, second, expected = again

    def refuses(graph: Any) -> Any:
        raise LookupError

    with pytest.raises(LookupError), compiled_autograd.enable(refuses):
        checkpoint(torch.cos, leaf(7), use_reentrant=False).sin().backward(torch.ones(7))
    with compiled_autograd.enable(eager) as runs:
        first()
        second()
    assert "did not say why" in runs[1].reasons[0]
    assert runs[1].reasons[1].endswith(expected.replace("!0", "!1").rpartition(", but ")[2])


def test_the_capture_that_failed_is_named():
    def refuses(graph: Any) -> Any:
        raise LookupError

    with pytest.raises(LookupError), compiled_autograd.enable(refuses):
        leaf(3).sum().backward()
    with compiled_autograd.enable(eager) as runs:
        leaf(3).sum().backward()
    assert runs[0].reasons[1] == "the nodes are those of !0, whose capture failed"


def test_only_what_is_on_the_same_way_is_compared():
    """The cache parts at the root of a double backward: what it has behind another root does not count."""
    start = leaf(3)
    with compiled_autograd.enable(eager) as runs:
        (gradient,) = torch.autograd.grad((start**3).sum(), start, create_graph=True)
        (gradient**2).sum().backward()
        leaf(3).pow(2).sum().backward()
    assert runs[2].reasons[1] == "like !1 up to there, which continues with MulBackward0"


def test_reset_forgets_what_was_captured_before():
    for _ in range(2):
        with compiled_autograd.enable(eager) as runs:
            leaf(3).exp().sum().backward()
            leaf(3).tanh().sum().backward()
        assert runs[1].reasons[1] == "like !0 up to there, which continues with ExpBackward0"
        compiled_autograd.reset()


def test_a_size_is_no_reason():
    with compiled_autograd.enable(eager) as runs:
        for index, rows in ((0, 3), (2, 5)):
            leaf(rows, 2)[index].exp().sum().backward()
    assert [run.captured for run in runs] == [True, False]


class Subclass(torch.Tensor):
    """Its operations are the user's code, and looking must not run any."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append(getattr(function, "__name__", str(function)))
        return super().__torch_function__(function, types, args, kwargs or {})


def test_looking_runs_nothing_of_a_subclass():
    from torch._dynamo import compiled_autograd as dynamo

    def calls(enable: Any) -> list[str]:
        start = torch.ones(3).as_subclass(Subclass).requires_grad_()
        loss = (start * 2).sum()
        Subclass.calls.clear()
        with enable(eager):
            loss.backward()
        return list(Subclass.calls)

    plain = calls(dynamo._enable)
    compiled_autograd.reset()
    assert calls(compiled_autograd.enable) == plain


def test_a_node_that_is_only_asked_for_its_gradient_counts():
    def step(twice: bool) -> None:
        start = leaf(3)
        between = start * 2
        torch.autograd.grad((between * (between if twice else 3)).sum(), [between])

    with compiled_autograd.enable(eager) as runs:
        step(True)
        step(False)
    assert "gradients it makes" in runs[1].reasons[1]


@pytest.mark.parametrize("where", ["__init__", "begin_capture", "set_node_origin", "end_capture"])
def test_a_capture_that_is_interrupted_anywhere_spoils_none_that_follows(where: str, monkeypatch: pytest.MonkeyPatch):
    from torch._dynamo.compiled_autograd import AutogradCompilerInstance

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    expected = torch.full((3,), 2.0)
    with monkeypatch.context() as patch, compiled_autograd.enable(eager):
        patch.setattr(AutogradCompilerInstance, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            (leaf(3) * 2).sum().backward()
    with compiled_autograd.enable(eager) as runs:
        for _ in range(2):
            (start := leaf(3)).mul(2).sum().backward()
            assert start.grad is not None and torch.equal(start.grad, expected)
    assert [run.captured for run in runs] == [True, False]
    assert "did not say why" in runs[0].reasons[0]


def test_a_reason_for_a_backward_that_failed_is_not_told_of_the_next(monkeypatch: pytest.MonkeyPatch):
    from torch._dynamo.compiled_autograd import AutogradCompilerInstance

    def refuses(*args: Any) -> Any:
        raise LookupError

    with monkeypatch.context() as patch, compiled_autograd.enable(eager), pytest.raises(LookupError):
        patch.setattr(AutogradCompilerInstance, "__init__", refuses)
        leaf(3).exp().sum().backward()
    with compiled_autograd.enable(eager) as runs:
        leaf(3).tanh().sum().backward()
    assert "did not say why" in runs[0].reasons[0]
