"""The tensors and numbers that a call brings in containers, objects and the closure of its function, by name."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import torch
from dynascope.agent.internals.compile.call import elements_of, texts_of

ROW = torch.ones(3)


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("seen", torch.ones(4))
        self.step, self.mode = 7, "fast"
        self.cache = [torch.ones(5), None]


@dataclasses.dataclass
class Batch:
    pixels: torch.Tensor
    scale: float = 0.5


class Slotted:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = ROW


class Pair(NamedTuple):
    x: torch.Tensor


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __iter__(self) -> Any:
        raise AssertionError


def told(function: Any, **values: Any) -> dict[str, str]:
    return dict(texts_of(elements_of(function.__code__, values)))


def test_elements_have_the_names_that_guards_give_them() -> None:
    def f(self, batch, rows, nested, *others, x, **keywords):  # type: ignore[no-untyped-def]
        pass

    values = {
        "self": Layer(),
        "batch": Batch(ROW),
        "rows": (ROW, 2, "text", True),
        "nested": {"a": [ROW], 3: {"b": 1}, ROW: ROW},
        "others": (1.5,),
        "x": ROW,
        "keywords": {"mask": ROW},
        "local": [ROW],
    }
    assert told(f, **values) == {
        "self.step": "7",
        "self.seen": "f32[4]",
        "self.cache[0]": "f32[5]",
        "batch.pixels": "f32[3]",
        "batch.scale": "0.5",
        "rows[0]": "f32[3]",
        "rows[1]": "2",
        "nested['a'][0]": "f32[3]",
        "nested[3]['b']": "1",
        "others[0]": "1.5",
        "keywords['mask']": "f32[3]",
    }


def test_numbers_of_a_closure_are_told() -> None:
    window, rows = 3, [ROW]

    def f(x):  # type: ignore[no-untyped-def]
        return x * window + rows[0]

    assert told(f, x=ROW, window=window, rows=rows) == {"window": "3", "rows[0]": "f32[3]"}


def test_no_code_of_the_program_runs() -> None:
    def f(a, b, c, d):  # type: ignore[no-untyped-def]
        pass

    assert told(f, a=Hostile(), b=Slotted(), c=Pair(ROW), d=[Hostile()]) == {}


def test_a_list_of_many_is_told_in_part() -> None:
    def f(rows):  # type: ignore[no-untyped-def]
        pass

    assert len(told(f, rows=[*range(1000)])) == 64
