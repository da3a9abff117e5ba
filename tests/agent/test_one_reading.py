"""A local reads the same in Locals, on the tape, in a comparison of compiles and in a hover."""

from __future__ import annotations

import enum
import re
from collections import OrderedDict, deque, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.recorder.recorder import Recorder
from dynascope.agent.tape.playback import Playback
from dynascope.facts.comparison.recorded import traced
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.in_progress import Board
from dynascope.facts.model import CompileFacts

from tests.support.agent.scripted_session import ScriptedSession

# ruff: noqa: F841 - what is assigned is looked at
pytestmark = pytest.mark.second_leg

Pair = namedtuple("Pair", "left right")
ODD = "a \"quoted\" 'word'\n\t\N{SNOWMAN}\x00 = 3]"
_HINT = re.compile(r"\b(s\d+) = \d+")
"""What Locals adds: the number that a symbol stands for in this call."""
NOT_READ = {"colour", "dtype", "function", "kind", "module", "table", "thing", "word"}
"""Arguments and globals that Dynamo may not have read, of which a comparison says nothing."""


class Colour(enum.Enum):
    RED = 1


class Thing:
    def __init__(self) -> None:
        self.size = 3


def helper(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def of_tensors(x: torch.Tensor, table: dict[str, torch.Tensor]) -> torch.Tensor:
    half = x.to(torch.float16)
    whole = x.long()
    flags = x > 0
    scalar = x.sum()
    complex_ = torch.complex(x, x)
    empty = x[:, :0]
    size = x.shape
    rows = x.shape[0]
    twice = rows * 2
    several = [half, [whole, {"flags": flags}], (rows, twice)]
    entry = table["a"]
    total = x + scalar + entry + len(several) + complex_.real + empty.sum() + len(size)
    return total + 1  # tensors


def of_values(x: torch.Tensor, module: torch.nn.Module, thing: Thing) -> torch.Tensor:
    nothing = None
    number, ratio, flag, imaginary = 3, 2.5, True, 2j
    word, letters, raw = ODD, "x" * 300, b"\x00\xff"
    one, none, nested = (1,), (), [[1, [2, [3, [4]]]]]
    many = list(range(9))
    table = {"a": 1, ODD: [x], 3: {"b": (x, None)}}
    ordered, queue, members = OrderedDict(a=1), deque([1, 2]), {1}
    pair, colour = Pair(x, 2), Colour.RED
    kind, dtype, device = Thing, torch.float16, x.device
    function, method, builtin, nested_function = helper, thing.__init__, len, lambda: x
    part, limits = slice(1, 3), range(4)
    size = thing.size
    made = Thing()
    y = module(x)
    return y + number + len(table) + size + made.size  # values


def recorded_and_looked_at(
    function: Callable[..., torch.Tensor], marker: str, *arguments: Any, dynamic: bool = False
) -> tuple[ScriptedSession, Playback, CompileFacts, Trail]:
    """Compile it while it is recorded and stopped at the marked line."""
    torch._dynamo.reset()
    compiles: list[tuple[CompileFacts, Trail]] = []
    recorder = Recorder(
        lambda facts, trails: compiles.append((facts, trails[-1])), lambda *_: None, pytest.fail, Board()
    )
    session = ScriptedSession()
    with session.attached():
        session.break_at(__file__, _line(marker))
        torch.compile(function, backend="eager", dynamic=dynamic)(*arguments)
        assert session.agent.session.hook is not None
        (tape,) = session.agent.session.hook.histories.ended
    recorder.remove()
    return session, tape, *compiles[0]


def _line(marker: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if line.endswith(f"  # {marker}\n"))


CASES = {
    "tensors": (of_tensors, (torch.ones(4, 3), {"a": torch.ones(3)}), True),
    "values": (of_values, (torch.ones(3), torch.nn.Linear(3, 3), Thing()), False),
}


@pytest.mark.parametrize("marker", CASES)
def test_a_local_reads_the_same_everywhere(marker: str) -> None:
    function, arguments, dynamic = CASES[marker]
    session, tape, facts, trail = recorded_and_looked_at(function, marker, *arguments, dynamic=dynamic)
    (stop,) = session.stops
    shown = stop.locals
    line = next(each for each in reversed(tape.lines) if each.line == _line(marker))
    assert tape.names(line, line.frame) == shown

    decided = {name: _HINT.sub(r"\1", text) for name, text in shown.items()}
    if marker == "tensors":
        decided["table"] = "{'a': …}"  # Dynamo had not read what is in it when it read the dict
    compared = {
        each.subject: each.text
        for traced_line in traced("0/0", trail, None).lines
        for each in traced_line.decisions
        if each.kind == "value" and each.place.depth == 0
    }
    assert compared == {name: text for name, text in decided.items() if name in compared}
    assert decided.keys() - compared.keys() <= NOT_READ

    hovered = {fact.name: fact.value for fact in facts.tensors if fact.path == __file__ and fact.name in decided}
    assert hovered.items() <= decided.items() and (marker == "values" or len(hovered) > 6)
