"""The comparison itself, without torch: symbols by what they stand for, compiles in progress, ends, and guards."""

from __future__ import annotations

from dynascope.explain.comparison import MARK, columns, first_difference
from dynascope.facts.comparison import recorded
from dynascope.facts.comparison.differences import compare
from dynascope.facts.comparison.trail import (
    Decision,
    DecisionKind,
    TracedCompile,
    TracedLine,
    TracedPlace,
    Trail,
    TrailWriter,
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
    writer = TrailWriter()
    outer = writer.call("/a.py", "f", -1)
    writer.line(outer, 3)
    builtin = writer.call("/lib/torch/_dynamo/polyfills/builtins.py", "sum", outer)
    within = writer.line(builtin, 56)
    writer.decide(within, "value", "item", "f32[4]")
    writer.decide(within, "operation", "add", "add(x, y)")
    inner = writer.call("/a.py", "g", builtin)
    writer.line(inner, 8)
    writer.line(builtin, 57)
    lines = recorded.traced("0/0", writer.trail({}), None).lines
    assert [(each.place.path, each.place.line) for each in lines] == [("/a.py", 3), ("/a.py", 8)]
    assert lines[0].decisions == [Decision("operation", "add", "add(x, y)", lines[0].place)]


def test_a_trail_is_what_was_written() -> None:
    writer = TrailWriter()
    outer = writer.call("/a.py", "f", -1)
    first = writer.line(outer, 1)
    inner = writer.call("/a.py", "g", outer)
    writer.line(inner, 8)
    assert writer.line(inner, 8) == 1, "the same line does not begin twice in a row"
    writer.decide(first, "value", "y", "f32[4]")
    writer.decide(first, "value", "x", "f32[4]", after=first)
    trail = decoded(encoded(writer.trail({"s0": "x.size()[0]"})), Trail)
    assert list(trail.rows()) == [(1, 0, "value", "y", "f32[4]"), (0, 0, "value", "x", "f32[4]")]
    assert (trail.lines, trail.symbols) == ([0, 1, 1, 8], {"s0": "x.size()[0]"})
