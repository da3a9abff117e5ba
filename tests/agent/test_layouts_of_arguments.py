"""The strides and storage offsets of arguments, which may undo what is dynamic."""

from __future__ import annotations

import pytest
import torch
from dynascope.agent.internals.compile.call import layouts_of

BASE = torch.randn(6, 4)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (BASE, []),
        (BASE[2:4], [("x", "", 8)]),
        (BASE[:2], []),
        (BASE[::2], [("x", "strides of 0: 8", 0)]),
        (BASE.t(), [("x", "in order 1, 0", 0)]),
        (BASE[:, 1:3].t(), [("x", "in order 1, 0; strides of 1: 4", 1)]),
        (torch.randn(1, 4).t(), []),
        (
            torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
            [("x", "in order 0, 2, 3, 1", 0)],
        ),
        (BASE.expand(3, 6, 4), [("x", "in order 1, 2, 0; strides of 0: 0, 2: 1", 0)]),
        (torch.zeros(0, 4).t(), []),
        (torch.tensor(1.0), []),
        (BASE.to_sparse(), []),
        (torch.nested.nested_tensor([torch.randn(2), torch.randn(3)]), []),
        (BASE.to("meta").t(), [("x", "in order 1, 0", 0)]),
        (torch.nn.Parameter(BASE.t()), [("x", "in order 1, 0", 0)]),
        (torch.randn(2, 5, 12).chunk(3, -1)[1], [("x", "strides of 1: 12", 4)]),  # the first follows from the size
        (torch.randn(2, 9, 12).chunk(3, -1)[1], [("x", "strides of 1: 12", 4)]),
        ("text", []),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_is_recorded_of_a_layout(value: object, expected: list[tuple[str, str, int]]):
    assert layouts_of({"x": value}) == expected


def test_sizes_that_are_symbols_are_not_compared():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    shapes = ShapeEnv()
    mode = FakeTensorMode(shape_env=shapes)
    fake = mode.from_tensor(BASE.t(), static_shapes=False)

    def read(x: torch.Tensor) -> torch.Tensor:
        assert type(x) is torch.Tensor and type(x.shape[0]) is torch.SymInt
        assert layouts_of({"x": x}) == []
        return x.sum()

    with mode:
        torch.func.grad(read)(fake)
    assert shapes.guards == []
