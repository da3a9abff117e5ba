"""The comparison itself, without torch: symbols by what they stand for, compiles in progress, ends, and guards."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dynascope.agent.tape.tape import NO_CALL, NO_TEXT, Tape
from dynascope.agent.tape.trails import trail_of
from dynascope.explain.comparison import MARK, columns, first_difference
from dynascope.facts.comparison import recorded
from dynascope.facts.comparison.differences import compare
from dynascope.facts.comparison.trail import (
    DECISION_KINDS,
    Decision,
    DecisionKind,
    TracedCompile,
    TracedLine,
    TracedPlace,
    Trail,
)
from dynascope.facts.store import decoded, encoded


def place(line: int, function: str = "f", depth: int = 0) -> TracedPlace:
    return TracedPlace("/a.py", line, function, depth)


def traced(name: str, *lines: int | tuple[int, DecisionKind, str, str], **more: object) -> TracedCompile:
    """A compile of one function: its lines, each with a decision or without."""
    rows = []
    for each in lines:
        line, *decision = (each,) if isinstance(each, int) else each
        made = [Decision(*decision, place(line))] if decision else []  # type: ignore[arg-type]
        rows.append(TracedLine(place(line), made))
    return TracedCompile(name=name, lines=rows, **{"end": "returned", **more})  # type: ignore[arg-type]


def test_symbols_are_equal_if_they_stand_for_the_same() -> None:
    left = traced("0/0", 1, (2, "value", "x", "f32[s0, 4]"), symbols={"s0": "L['x'].size()[0]"})
    right = traced("0/1", 1, (2, "value", "x", "f32[s77, 4]"), symbols={"s77": "L['x'].size()[0]"})
    assert compare(left, right).differences == []
    other = traced("0/1", 1, (2, "value", "x", "f32[s77, 4]"), symbols={"s77": "L['y'].size()[0]"})
    assert [each.kind for each in compare(left, other).differences] == ["value"]


def test_names_that_dynamo_numbers_are_equal() -> None:
    left = traced("0/0", (1, "guard", "ID_MATCH G['__builtins_dict___4']['range']", "___check(__builtins_dict___4, 9)"))
    right = traced(
        "0/1", (1, "guard", "ID_MATCH G['__builtins_dict___8']['range']", "___check(__builtins_dict___8, 9)")
    )
    assert compare(left, right).differences == []


def test_nothing_is_said_of_what_is_not_traced_yet() -> None:
    left = traced("0/0", 1, (2, "value", "y", "f32[4]"), 3)
    right = traced("0/1", 1, (2, "value", "y", "f32[5]"), end="in progress")
    comparison = compare(left, right)
    assert comparison.differences == [] and comparison.common == 2
    assert first_difference(comparison) == "Nothing differs so far: Dynamo has begun the same 2 lines in both."
    further = traced("0/1", 1, (2, "value", "y", "f32[5]"), 3, end="in progress")
    assert (
        first_difference(compare(left, further))
        == "First difference, at a.py:2: y is f32[4] in 0/0, and f32[5] in 0/1."
    )


def test_what_is_not_read_yet_is_no_difference_but_told() -> None:
    left = traced("0/0", (1, "value", "mode", "'a'"), 2, 3)
    begun = compare(left, traced("0/1", 1, 2, end="in progress"))
    assert begun.differences == []
    assert first_difference(begun).endswith("the same 2 lines in both. It has not read mode in 0/1 yet.")
    assert not any("┃" in row for row in columns(begun, lambda path, line: f"line {line}"))
    abandoned = traced("0/1_0", 1, 2, 3, end="repeated")
    assert [each.kind for each in compare(left, abandoned).differences] == ["branch"], "they end in other ways"
    (found,) = compare(left, traced("0/1", 1, 2, 3)).differences
    assert (found.left, found.right) == ("'a'", None), "a compile that has ended did not need it"


def test_an_end_is_a_way_to_go() -> None:
    left, right = traced("0/0", 1, 2), traced("0/1", 1, 2, 3)
    comparison = compare(left, right)
    (branch,) = comparison.differences
    assert (branch.kind, branch.left_next, branch.right_next) == ("branch", None, place(3))
    assert first_difference(comparison).endswith("at a.py:2: 0/0 returns next, and 0/1 goes on at line 3.")
    left.end, left.failure = "failed", "TypeError: no"
    assert "0/0 fails with TypeError: no next" in first_difference(compare(left, right))


def test_a_call_of_another_function_is_a_way_to_go() -> None:
    left, right = traced("0/0", 1), traced("0/1", 1)
    left.lines.append(TracedLine(place(8, "g", 1)))
    right.lines.append(TracedLine(place(9, "h", 1)))
    assert first_difference(compare(left, right)).endswith("0/0 calls g next, and 0/1 calls h.")


def test_guards_of_a_failed_compile_are_not_compared() -> None:
    left, right = traced("0/0", (1, "guard", "ID_MATCH x", "a")), traced("0/1", (1, "guard", "ID_MATCH x", "b"))
    assert [each.kind for each in compare(left, right).differences] == ["guard"]
    right.has_guards = False
    assert compare(left, right).differences == []


def test_of_a_guard_only_what_differs_is_told() -> None:
    left = traced("0/0", (1, "guard", "LENGTH x", "type(x) is list\nlen(x) == 2"))
    right = traced("0/1", (1, "guard", "LENGTH x", "type(x) is list\nlen(x) == 3"))
    (found,) = compare(left, right).differences
    assert (found.left, found.right) == ("len(x) == 2", "len(x) == 3")


def test_two_columns_are_aligned_again_after_a_branch() -> None:
    comparison = compare(traced("0/0", 1, 2, 3, 5, 6), traced("0/1", 1, 2, 4, 5, 6))
    rows = columns(comparison, lambda path, line: f"line {line}")
    sides = [tuple(side.strip() for side in row[2:].replace("┃", "│").split("│")) for row in rows[2:]]
    assert sides == [
        ("1  line 1", "1  line 1"),
        ("2  line 2", "2  line 2"),
        ("3  line 3", "4  line 4"),
        ("5  line 5", "5  line 5"),
        ("6  line 6", "6  line 6"),
    ]
    assert [number for number, row in enumerate(rows) if row.startswith(MARK)] == [3]


def test_what_stands_for_a_builtin_is_told_at_the_line_that_led_there() -> None:
    texts = ["/a.py", "f", "/lib/torch/_dynamo/polyfills/builtins.py", "sum", "g", "item", "f32[4]", "add", "add(x, y)"]
    value, operation = map(DECISION_KINDS.index, ("value", "operation"))
    trail = Trail(
        texts,
        calls=[(0, 1, -1), (2, 3, 0), (0, 4, 1)],
        lines=[0, 3, 1, 56, 2, 8, 1, 57],
        decisions=[1, 1, value, 5, 6, 1, 1, operation, 7, 8],
    )
    lines = recorded.traced("0/0", trail, None).lines
    assert [(each.place.path, each.place.line) for each in lines] == [("/a.py", 3), ("/a.py", 8)]
    assert lines[0].decisions == [Decision("operation", "add", "add(x, y)", lines[0].place)]


def test_a_trail_is_what_was_written() -> None:
    tape = Tape()
    number = tape.texts.number
    f, g = (SimpleNamespace(path="/a.py", function=name) for name in "fg")
    calls: list[Any] = [(f, NO_CALL), (g, 0)]
    tape.calls.extend(calls)
    for began, line, call in ((0, 1, 0), (1, 8, 1), (0, 1, 0)):
        tape.segments.add(began, call, line, call)
    for latest, name in ((2, "y"), (0, "x")):
        tape.decided.add(latest, 0, number(name), number("f32[4]"))
    tape.symbols.add(1, number("s0"), number("made for x.size()[0]: 4"), True)
    tape.symbols.add(1, number("s0"), number("guarded by s0 > 2"), False)
    tape.nodes.add(0, NO_TEXT, number("l_x_"), NO_TEXT)
    tape.guard_counts.add(2, 3)
    trail = decoded(encoded(trail_of(tape, {"s0": "x.size()[0]"}, is_repeated=False)), Trail)
    assert list(trail.rows()) == [
        (1, 1, "symbol", "s0", "guarded by s0 > 2"),
        (1, 0, "value", "y", "f32[4]"),
        (0, 0, "value", "x", "f32[4]"),
    ]
    assert (trail.lines, trail.guards) == ([0, 1, 1, 8], [1, 0, 3]), "a call goes on without beginning its line again"
    assert trail.symbols == {"s0": "x.size()[0]"}
