"""Each sentence about a compile is said of a program or in a test, which `said.json` names."""

from __future__ import annotations

from functools import cache

import pytest

from tests.support.sentences import PROGRAMS, ROOT, is_in_test, is_said, sentences, strings_of, table

TABLE = table()
strings = cache(strings_of)


def test_each_sentence_has_a_program():
    missing = {text for text in sentences() if text not in TABLE}
    assert missing == set(), "write a program or a test in which it is said, and add it to said.json"
    gone = TABLE.keys() - set(sentences())
    assert gone == set(), "python -m tests.support.sentences"


@pytest.mark.parametrize("place", sorted(set(TABLE.values())))
def test_what_is_named_has_the_sentence(place: str):
    texts = [text for text, where in TABLE.items() if where == place]
    if not place.startswith("tests/"):
        assert (PROGRAMS / f"{place}.py").exists()  # tests/agent record it and look for the sentence
        return
    known = strings(ROOT / place)
    assert [text for text in texts if not is_in_test(text, known)] == []


def test_a_sentence_is_found_by_its_parts():
    assert is_said("{} less with `dynamic=True`.", ["hint: Two compiles less with `dynamic=True`."])
    assert is_said("as {}, or {}{}", ["as one, or twothree"])
    assert not is_said("as {}, or {}", ["or one, as two"])
    assert is_in_test("{} was not seen to run", "it was not seen") and not is_in_test("{} was not seen", "was not")
