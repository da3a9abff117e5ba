"""What docs/tutorial.md shows is what its commands print: with its program, in its order, times and dates apart."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.marks import ROOT

PROMPT = "(dynascope) "
VARYING = re.compile(r"\d+(\.\d+)? m?s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|(?<=torch )[\d.]+(\+\w+)?")


def blocks() -> Iterator[tuple[str, str]]:
    """Yield the info string and the text of each block of code, in order."""
    page = (ROOT / "docs/tutorial.md").read_text()
    yield from re.findall(r"^```([^\n]+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def edit(program: Path, info: str, text: str) -> None:
    """Write the program, or change the lines that the block's title names."""
    lines = program.read_text().splitlines(keepends=True) if program.exists() else []
    if replaced := re.search(r"lines (\d+) and (\d+)", info):
        first, last = map(int, replaced.groups())
        lines[first - 1 : last] = [text]
    elif before := re.search(r"before line (\d+)", info):
        lines.insert(int(before[1]) - 1, text)
    else:
        lines = [text]
    program.write_text("".join(lines))


def printed(command: str, asked: list[str], folder: Path) -> str:
    """Return what a command of the tutorial prints; `asked` is typed at its prompt."""
    words = [sys.executable, "-m", *shlex.split(command)]
    if asked:
        words[4:4] = [word for each in asked for word in ("--command", each)]
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(words, cwd=folder, env=environment, timeout=300, **output).stdout


def comparable(text: str) -> str:
    """Take away what varies, and the first command at the prompt: it is echoed before the stop that it waits for."""
    lines = VARYING.sub("…", text).splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if line.startswith(PROMPT)), None)
    return "".join(line for number, line in enumerate(lines) if number != first)


@pytest.mark.matrix
@pytest.mark.main_leg
def test_the_commands_print_what_the_tutorial_shows(tmp_path):
    wrong = []
    for info, text in blocks():
        if info.startswith("python"):
            edit(tmp_path / "train.py", info, text)
            continue
        for command, expected in re.findall(r"^\$ ([^\n]+)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            asked = [line.removeprefix(PROMPT) for line in expected.splitlines() if line.startswith(PROMPT)]
            got = printed(command, asked, tmp_path)
            if not doctest.OutputChecker().check_output(comparable(expected), comparable(got), doctest.ELLIPSIS):
                wrong.append(f"$ {command}\n{got}\n-- the tutorial has\n{expected}")
    assert not wrong, "\n".join(wrong)
