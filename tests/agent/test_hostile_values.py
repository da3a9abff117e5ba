"""Values whose methods raise or act: a look at them runs none of their code."""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Any

import pytest
import torch
from dynascope import comptime

from tests.support.nonperturbation.stopped import Stopped, stop_in

pytestmark = pytest.mark.second_leg

RAN: list[str] = []


def ran(name: str) -> Any:
    RAN.append(name)
    raise RuntimeError(name)


class Meta(type):
    def __repr__(cls) -> str:
        return ran("metaclass __repr__")  # type: ignore[no-any-return]

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return ran(f"metaclass {name}")


class Hostile(metaclass=Meta):
    def __init__(self) -> None:
        self.fine = 3

    @property
    def slow(self) -> Any:
        return ran("property")

    def __repr__(self) -> str:
        return ran("__repr__")  # type: ignore[no-any-return]

    __str__ = __repr__

    def __len__(self) -> int:
        return ran("__len__")  # type: ignore[no-any-return]

    def method(self) -> None:
        """Its own `repr` holds that of the object."""


class HostileList(list[Any]):
    def __iter__(self) -> Any:
        return ran("__iter__")

    def __len__(self) -> int:
        return ran("__len__")  # type: ignore[no-any-return]

    __repr__ = Hostile.__repr__


def function(x: Any, one: Any, many: Any) -> Any:
    y = x + 1
    comptime.print_locals()
    comptime(lambda ctx: print(ctx.get_local("one"), ctx.get_local("many")))
    kept = (one, many["held"], one)
    return y * len(kept)  #: stop


def test_a_look_runs_none_of_their_code() -> None:
    RAN.clear()  # pytest has asked the metaclass for something
    one = Hostile()
    many = {"held": one, "method": one.method, "partial": functools.partial(print, one), "list": HostileList([1, 2])}
    many |= {"error": ValueError(one), "class": Hostile}

    def inspect_stop(stop: Stopped) -> None:
        rows = stop.scope("Locals")
        for name in ("one", "many", "kept"):
            for row in stop.below(rows[name]).values():
                if row.variables_reference:
                    stop.below(row)
            for context in ("hover", "watch", "clipboard"):
                stop.evaluate(name, context)
        assert stop.evaluate("one.fine", "hover").result == "3"
        with contextlib.suppress(Exception):
            stop.evaluate("one.slow", "hover")
        stop.evaluate("ctx.print_locals()")

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        stop_in(function, torch.ones(2), one, many, inspect_stop=inspect_stop)
    assert RAN == []
    assert "y = " in printed.getvalue()
