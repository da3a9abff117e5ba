"""Ranks leave the newest compiles of their functions for a rank that asks why they part at run time."""

from __future__ import annotations

from dynascope.agent.ranks.calls import FunctionPlace, TracedCall
from dynascope.agent.ranks.newest_calls import NewestCalls, newest_of
from dynascope.facts import model
from dynascope.facts.comparison.newest_calls import pairs_at
from dynascope.facts.comparison.ranks import PartOfCall
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.user_stack import UserFrame

PATH = "/work/model.py"


class Store:
    """A store in this process that counts how often it is written."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self.writes = 0

    def set(self, key: str, value: bytes) -> None:
        self.writes += 1
        self._values[key] = value

    def check(self, keys: list[str]) -> bool:
        return all(key in self._values for key in keys)

    def get(self, key: str) -> bytes:
        return self._values[key]


def part(function: str, line: int, resumes_at: int | None = None, compile_id: str = "0/0") -> PartOfCall:
    made = model.Compile(
        compile_id=compile_id, function=function, path=PATH, line=line, status="compiled", began=0.0, seconds=1.0
    )
    made.resumes_at = resumes_at
    return PartOfCall(made, [], [], Trail([], [], [], []), [], ("/work/train.py", line + 100))


def call(*parts: PartOfCall) -> TracedCall:
    first = parts[0].compile
    return TracedCall(FunctionPlace(PATH, first.line, first.function), 0, [*parts])


def test_they_are_left_once_and_the_newest_compile_of_each_function() -> None:
    store, newest = Store(), NewestCalls()
    newest.keep(call(part("step", 10)))
    newest.keep(call(part("loss", 30)))
    newest.keep(call(part("step", 10, compile_id="0/1")))
    newest.leave(store, 1)
    newest.leave(store, 1)
    assert store.writes == 1
    assert [(each.function, each.parts[0].compile.compile_id) for each in newest_of(store, 1)] == [
        ("step", "0/1"),
        ("loss", "0/0"),
    ]
    newest.keep(call(part("loss", 30, compile_id="1/1")))
    newest.leave(store, 1)
    assert store.writes == 2
    assert newest_of(store, 0) == []


def test_what_follows_a_break_is_compared_with_that_part_of_a_whole_call() -> None:
    ours, theirs = NewestCalls(), NewestCalls()
    ours.keep(call(part("step", 10), part("step", 10, 12)))
    ours.keep(call(part("loss", 30)))
    theirs.keep(call(part("step", 10, 12, compile_id="1/1")))
    theirs.keep(call(part("loss", 30)))
    asked = UserFrame(PATH, 12, "torch_dynamo_resume_in_step_at_12")
    pairs = pairs_at(ours.newest(), theirs.newest(), [asked])
    told = [(pair.ours[0].name[1::2], pair.theirs[0].compile.compile_id, pair.is_there) for pair in pairs]
    assert told == [(("step", 12), "1/1", True), (("loss", None), "0/0", False)]
    called_from = pairs_at(ours.newest(), theirs.newest(), [UserFrame("/work/train.py", 130, "main")])
    assert [pair.ours[0].name[1] for pair in called_from if pair.is_there] == ["loss"]
