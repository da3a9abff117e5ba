"""What a run keeps of its command line starts the same program again, or says that it cannot."""

from __future__ import annotations

import pytest
from dynascope.facts.current_compiles import CommandLine, command_line, parsed


@pytest.mark.parametrize(
    ("arguments", "module", "program"),
    [
        (["train.py"], None, CommandLine([], path="train.py")),
        (
            ["my train.py", "--text", "it's two words"],
            None,
            CommandLine(["--text", "it's two words"], path="my train.py"),
        ),
        (["/env/pkg/train.py", "--steps", "2"], "pkg.train", CommandLine(["--steps", "2"], module="pkg.train")),
        (["-c", "1"], None, None),
        ([""], None, None),
        ([], None, None),
    ],
)
def test_a_command_line_is_kept(arguments: list[str], module: str | None, program: CommandLine | None):
    assert parsed(command_line(arguments, module)) == program


def test_what_is_no_command_line_starts_nothing():
    assert parsed("it's a name.log") is None
