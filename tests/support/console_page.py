"""docs/console.md, written from the list of the debug console's commands.

`python -m tests.support.console_page` writes it; a page that is stale fails the tests.
"""

from __future__ import annotations

from pathlib import Path

from dynascope.console import Command, all_commands

PAGE = Path(__file__).parents[2] / "docs" / "console.md"

_TEXT = """# Commands of the debug console

Written from `adapter/dynascope/console/` by `make console`; a test fails when it is stale.

Type them at a stop in the debug console of any editor, or at [the prompt](terminal.md) of `dynascope debug`. What is no
command is evaluated as Python. If your code has a variable of a command's name, the name alone means the variable
(`help` excepted); with a question mark it is the command: `why?`. At the prompt `#ROW` after a command that lists
lines, as in `history x #2`, goes back to the line of that row.
"""
_NEEDS = {
    "nothing": "Answered at any time.",
    "program": "Answered at any time once something is compiled, also without a stop.",
    "stop": "",
}


def page() -> str:
    """Return what docs/console.md should say."""
    entries = all_commands()
    rows = [f"| [`{entry.name}`](#{entry.name.replace(' ', '-')}) | {entry.summary} |" for entry in entries]
    return "\n".join([_TEXT, "| command | |", "|---|---|", *rows, "", *map(_section, entries)])


def _section(entry: Command) -> str:
    where = _NEEDS[entry.needs] or (
        "Answered at a compile-time stop, and where the program runs."
        if entry.at_runtime
        else "Answered at a compile-time stop."
    )
    more = f" [More]({entry.page})." if entry.page else ""
    parts = [f"## {entry.name}", f"```\n{entry.written}\n```", entry.summary, entry.details, f"{where}{more}"]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
