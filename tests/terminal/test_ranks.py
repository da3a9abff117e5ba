"""`dynascope debug torchrun …`: one rank is debugged, the others run on."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from dynascope.terminal.command import debug as command

from tests.support.backward.gpu_table import Table
from tests.support.devices import DEVICES, place
from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

RANKS = program("ranks.py")


@pytest.mark.matrix
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("device", DEVICES)
def test_the_chosen_rank_stops_and_the_job_ends_with_its_code(device: str, gpu_table: Table) -> None:
    options = ["--rank", "1", "-b", f"{RANKS}:{line(RANKS, 'helper')}", "-b", f"{RANKS}:{line(RANKS, 'ran')}"]
    commands = ["run", "print y", "continue", "print r", "continue"]
    written = [part for each in commands for part in ("--command", each)]
    job = ["torchrun", "--nproc-per-node=2", "--standalone", str(RANKS), device]
    code, out = debug(*options, *written, *job)
    assert code == 0, out
    assert "rank 1 is debugged, the others run undebugged" in out
    assert out.count("● compile time  helper [0/0]") == 1 and out.count("● run time  <module>") == 1
    assert "in a collective of gloo fail after" in out
    assert f"\nf32[3]{place(device)}\n" in out, out
    assert "rank 0 -> 30.0" in out and "rank 1 -> 30.0" in out and "torchrun ended with exit code 0" in out
    gpu_table.add_session(device, "two ranks on one GPU over gloo, one of them debugged")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--rank", "1", "program.py"], "--rank is for torchrun"),
        (["--no-runtime", "torchrun", "program.py"], "leave out --no-runtime"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_debugged_is_refused(arguments: list[str], why: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2 and why in result.output
