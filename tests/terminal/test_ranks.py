"""`dynascope debug torchrun …`: all ranks are debugged at one prompt, or one while the others run on."""

from __future__ import annotations

import re
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from dynascope.terminal.command import debug as command
from dynascope.terminal.folded_stacks import folded

from tests.support.backward.gpu_table import Table
from tests.support.devices import DEVICES, place
from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

RANKS = program("ranks.py")
JOB = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()


def inner(y, rank):
    if rank == 1:
        y = y + 1
    return y * 2


@torch.compile(backend="eager")
def step(x, rank):
    z = inner(x, rank)
    return z.sum()


dist.barrier()
print(f"rank {rank} -> {step(torch.ones(4), rank).item()}", flush=True)
total = torch.ones(1)
dist.all_reduce(total)
print(f"total {total.item()}", flush=True)
"""


@pytest.mark.parametrize("ranks", [2, *(pytest.param(each, marks=pytest.mark.matrix) for each in (4, 8))])
def test_all_ranks_stop_step_and_go_on(folder: Path, ranks: int) -> None:
    (folder / "job.py").write_text(JOB)
    commands = [
        "run",
        "ranks",
        "where all",
        "rank 1",
        "print rank",
        "all next",
        "where all",
        "threads",
        "next",
        "ranks",
    ]
    commands += ["rank 8", "all print", "all continue"]
    written = [part for each in commands for part in ("--command", each)]
    job = ["torchrun", f"--nproc-per-node={ranks}", "--standalone", "job.py"]
    code, out = debug("-b", "job.py:9", *written, *job)
    assert code == 0, out
    told = dict(zip(commands, out.split("(dynascope) ")[1:], strict=True))
    every, others = {2: ("0, 1", "0"), 4: ("0-3", "0, 2, 3"), 8: ("0-7", "0, 2-7")}[ranks]
    assert "● compile time  inner [0/0]  job.py:9  (breakpoint 1)" in told["run"]
    assert [line[2:] for line in out.split("(dynascope) ranks\n")[1].splitlines()[:ranks]] == [
        f"rank {rank} is at inner [0/0]  job.py:9" for rank in range(ranks)
    ]
    where = [each.partition("(dynascope)")[0] for each in out.split("(dynascope) where all\n")[1:]]
    above = f"ranks {every}: <module>  job.py:21\nranks {every}: step [0/0]  job.py:16\n"
    assert where[0] == f"{above}ranks {every}: inner [0/0]  job.py:9\n"
    named = f"rank{'s' if ranks > 2 else ''} {others}"
    assert where[1] == f"{above}  {named}: inner [0/0]  job.py:11\n  rank 1: inner [0/0]  job.py:10\n"
    assert f"rank 1 ({named} {'are' if ranks > 2 else 'is'} stopped)" in told["rank 1"]
    assert told["print rank"].endswith("\n1\n") and "  rank 1: MainThread  stopped" in told["threads"]
    assert "> rank 1 is at inner [0/0]  job.py:11" in out.rpartition("(dynascope) ranks\n")[2]
    assert "*** there is no rank 8 here; `ranks` lists them" in told["rank 8"]
    assert "*** `all` takes one of `continue`, `next`, `step`, `out`, not `print`" in told["all print"]
    assert out.count("total ") == ranks and "rank 1 -> 16.0" in out and "rank 0 -> 8.0" in out
    assert "torchrun ended with exit code 0" in out


@pytest.mark.matrix
def test_a_step_into_a_collective_of_stopped_ranks_does_not_end_the_list(folder: Path) -> None:
    (folder / "job.py").write_text(JOB)
    commands = ["run", "next", "ranks", "next", "ranks", "continue"]
    written = [part for each in commands for part in ("--command", each)]
    at = JOB.splitlines().index("dist.all_reduce(total)") + 1
    code, out = debug("-b", f"job.py:{at}", *written, "torchrun", "--nproc-per-node=2", "--standalone", "job.py")
    assert code == 0 and out.count("total 2.0") == 2, out
    assert "rank 0 runs on: it may wait for a rank that is stopped\nrank 1 (rank 0 runs)" in out
    assert f"  rank 0 runs\n> rank 1 is at <module>  job.py:{at}" in out
    # rank 0 comes out of the collective as well, a moment earlier or later
    assert re.search(rf"  rank 0 (is at <module>  job.py:{at + 1}|runs)\n> rank 1 is at <module>  job.py:{at + 1}", out)


def test_a_job_that_is_left_at_a_stop_ends(folder: Path) -> None:
    (folder / "job.py").write_text(JOB)
    job = ["torchrun", "--nproc-per-node=2", "--standalone", str(folder / "job.py")]
    code, out = debug("-b", "job.py:9", "--command", "run", "--command", "quit", *job)
    assert code == 0 and "was killed" not in out and "rank 0 ->" not in out
    running = [each.info["cmdline"] for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"]]
    assert not [each for each in running if str(folder / "job.py") in each]


def test_stacks_are_folded_where_they_part() -> None:
    stacks = {0: ["main", "f", "g"], 1: ["main", "f", "h"], 2: ["main", "f", "g"], 3: ["main"], 4: ["other"]}
    assert [*folded(stacks)] == [
        (1, [0, 1, 2, 3], "main"),
        (2, [0, 1, 2], "f"),
        (3, [0, 2], "g"),
        (3, [1], "h"),
        (1, [4], "other"),
    ]
    assert [*folded({0: ["main", "f"], 1: ["main", "f"]})] == [(0, [0, 1], "main"), (0, [0, 1], "f")]


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
        (["--stop-on-entry", "torchrun", "program.py"], "instead of --stop-on-entry"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_debugged_is_refused(arguments: list[str], why: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2 and why in result.output
