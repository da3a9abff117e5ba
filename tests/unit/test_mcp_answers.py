"""Answers to agents are short, and are cut between lines."""

from __future__ import annotations

import re

from dynascope.mcp.answers import LIMIT, answer


def test_pages_have_all_lines_between_them_and_say_how_to_get_the_next() -> None:
    lines = [f"{number} " + "x" * (number % 90) for number in range(300)]
    told: list[str] = []
    page, more = 1, True
    while more:
        text = answer("\n".join(lines), page, "explain('a')")
        assert len(text) <= LIMIT and text.endswith("\nNext: explain('a')")
        found = re.search(r"^… page \d+ of \d+: ask again with page=(\d+)\.$", text, re.MULTILINE)
        told += [line for line in text.splitlines() if re.match(r"\d", line)]
        page, more = page + 1, found is not None
        assert not more or (found is not None and int(found[1]) == page)
    assert told == lines


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    text = answer("first " + "x" * 9_000 + " last")
    assert text.startswith("first ") and text.endswith(" last") and len(text) < 700


def test_a_page_that_there_is_not_is_the_last() -> None:
    assert answer("one", page=7) == "one"
