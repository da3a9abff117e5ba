"""`dynascope debug --connect`: a program that runs already is debugged at the prompt, and goes on afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from dynascope.terminal.command import debug as command
from dynascope.wire.listening import token_file

pytest.importorskip("torch")

from tests.support.dap.running import Running
from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

SERVING = program("serving.py")


@pytest.mark.usefixtures("folder")
def test_it_stops_is_looked_at_and_goes_on(tmp_path: Path) -> None:
    running = Running(SERVING)
    try:
        port = running.connect["port"]
        token = tmp_path / "token"
        token.write_text(json.loads(token_file(port).read_bytes())["token"])
        where = ["--connect", f"127.0.0.1:{port}", "--token-file", str(token)]
        code, out = debug(*where, "-b", f"{SERVING}:{line(SERVING, 'traced')}", "--command", "locals")
        assert code == 0 and "● compile time  compiled [" in out and "x  f32[3]" in out, out
        assert debug(*where, "-b", f"{SERVING}:1", "--command", "breakpoints")[0] == 0
        running.assert_runs_on()
        assert running.end() == 0
    finally:
        running.process.kill()
        running.process.wait()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--pid", "1", "--connect", ":1"], "exclude each other"),
        (["--pid", "1", "train.py"], "exclude each other"),
        (["--connect", "here"], "--connect takes HOST:PORT, not 'here'"),
        (["--token-file", __file__, "train.py"], "--token-file is for --connect"),
        (["--token-file", __file__, "--pid", "1"], "--token-file is for --connect"),
        (["--stop-on-entry", "--pid", "1"], "leave out --stop-on-entry"),
        (["--token-file", "no_token.json", "--connect", ":1"], "no_token.json has no token"),
        (["--pid", "999999999", "--command", "run"], "cannot attach to process 999999999: There is no process"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_attached_to_is_said(arguments: list[str], why: str) -> None:
    Path("no_token.json").write_text('{"host": ""}')
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code != 0 and why in result.output
