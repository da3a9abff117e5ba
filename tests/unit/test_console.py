"""The list of the debug console's commands: who reads it, and which lines are commands."""

from __future__ import annotations

import pytest
from dynascope import console
from dynascope.terminal import commands as prompt

from tests.support import console_page

NAMES = [entry.name for entry in console.all_commands()]


@pytest.mark.parametrize(
    ("line", "name", "argument"),
    [
        ("why", "why", ""),
        (" why ? ", "why", ""),
        ("Guards check 0/1", "guards", "check 0/1"),
        ("guards", "guards", ""),
        ("guards !0/5/0", "guards", "!0/5/0"),
        ("what if", "what if", ""),
        ("whatif n = 8", "what if", "n = 8"),
        ("what if x.shape[0] dynamic?", "what if", "x.shape[0] dynamic"),
        ("forms from /tmp/a b.py:3", "forms", "from /tmp/a b.py:3"),
        ("history Guards/L['x']", "history", "Guards/L['x']"),
        ("help what if", "help", "what if"),
    ],
)
def test_a_line_that_is_a_command(line: str, name: str, argument: str) -> None:
    asked = console.asked(line)
    assert asked is not None and (asked.command.name, asked.argument) == (name, argument)


@pytest.mark.parametrize(
    "line",
    ["", "x", "guards[0]", "guards = 3", "history (x)", "help(x)", "changes is None", "forms in x", "what", "whyever",
     "why.x", "checkpoint: int", "forms -1", "what if x else y", "history if x else y", "wh\x00y"],
)  # fmt: skip
def test_python_is_no_command(line: str) -> None:
    assert console.asked(line) is None


@pytest.mark.parametrize("name", NAMES)
def test_with_a_question_mark_a_line_is_the_command(name: str) -> None:
    for argument in ("", " == 3", " (x)", " -1", " is None"):
        asked = console.asked(f"{name}{argument}?")
        assert asked is not None and (asked.command.name, asked.argument, asked.variable) == (
            name,
            argument.strip(),
            "",
        )


def test_a_bare_name_may_be_a_variable_and_with_a_question_mark_it_is_none() -> None:
    assert [console.asked(line).variable for line in ("why", "why?", "why  ?", "guards check")] == ["why", "", "", ""]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("histroy x", "history"),
        ("hlep", "help"),
        ("gards check", "guards"),
        ("Chekpoint a", "checkpoint"),
        ("waht if n = 8", "what if"),
    ],
)
def test_a_near_miss_is_told(line: str, name: str) -> None:
    assert console.near_miss(line) == f"did you mean the command `{name}`?"
    assert console.is_misspelt(line) == (" " in line)


@pytest.mark.parametrize("line", ["for x in", "while", "x = = 3", "xyzzy 3", "1 +", ""])
def test_other_mistakes_are_like_no_command(line: str) -> None:
    assert not console.is_misspelt(line)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_is_in_help_completions_prompt_and_docs(name: str) -> None:
    entry = console.find(name)
    listed = console.find("help").answer(None, 0, "").result
    assert f"\n{name} " in f"\n{listed}" and entry.summary in listed
    assert entry.details in console.find("help").answer(None, 0, name).result.replace("\n  ", "\n")
    assert (name, entry.summary) in console.completions(name[:2])
    assert all((word, entry.written) in console.completions(f"{name} ") for word in entry.words())
    assert prompt.find(name.partition(" ")[0]).summary == entry.summary
    assert f"## {name}\n" in console_page.page()


def test_the_page_is_that_of_the_list() -> None:
    assert console_page.PAGE.read_text() == console_page.page(), "run `make console`"
    docs = console_page.PAGE.parent
    for entry in console.all_commands():
        page, _, heading = entry.page.partition("#")
        lines = (docs / page).read_text().splitlines() if page else []
        titles = [line.lstrip("# ").lower().replace(" ", "-") for line in lines if line.startswith("#")]
        assert not heading or heading in titles, f"{entry.page} of `{entry.name}` leads nowhere"


def test_a_command_without_an_argument_it_needs_and_with_one_it_has_not() -> None:
    with pytest.raises(console.BadCommand, match="The history of what"):
        console.find("history").check("")
    with pytest.raises(console.BadCommand, match="has no arguments"):
        console.find("why").check("now")
    with pytest.raises(console.BadCommand, match="did you mean the command `guards`"):
        console.find("help").answer(None, 0, "gards")


def test_only_the_place_of_a_command_is_translated() -> None:
    asked = console.asked("forms from a.py:3")
    assert asked is not None and asked.with_place(str.upper).argument == "from A.PY:3"
    other = console.asked("forms 0/0 from")
    assert other is not None and other.with_place(str.upper).argument == "0/0 from"
    why = console.asked("why")
    assert why is not None and why.with_place(str.upper).argument == ""
