"""`dynascope top`: what running programs compile now. They wait at known places, each at a pipe that the test opens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dynascope.cli import main

pytestmark = [pytest.mark.real_processes, pytest.mark.second_leg]

ROOT = Path(__file__).parents[2]
WAITS = """
import os, sys, torch
waited = set()
def wait(pipe):
    if pipe not in waited:
        waited.add(pipe)
        with open(pipe) as file:
            file.read()
"""
COMPILES = """
@torch.library.custom_op("mine::op", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@op.register_fake
def fake(x):
    wait("trace")
    return torch.empty_like(x)
def slow_backend(graph, inputs, **options):
    wait("backend")
    return graph.forward
def guards(entries):
    wait("guards")
    return [True] * len(entries)
def inner(x):
    return op(x) + 1  # traced
def step(x):
    y = inner(x)
    return y * 2  # ends
torch.compile(step, backend=slow_backend, options={"guard_filter_fn": guards})(torch.ones(3))
wait("idle")
"""
INDUCTOR = """
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass
class Slow(CustomGraphPass):
    def __call__(self, graph):
        wait("pass")
    def uuid(self):
        return None
config.post_grad_custom_post_pass = Slow()
torch.compile(lambda x: x.sin() + 1)(torch.ones(3))
"""
BACKWARD = """
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass
called = []
class SlowLater(CustomGraphPass):
    def __call__(self, graph):
        if called:
            wait("backward")
    def uuid(self):
        return None
config.post_grad_custom_post_pass = SlowLater()
@torch.compile
def loss(x):
    return (x.sin() * 2).sum()
found = loss(torch.ones(3, requires_grad=True))
called.append(found)
found.backward()
"""


@contextmanager
def program(folder: Path, source: str, *pipes: str, recorded: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    for pipe in pipes:
        os.mkfifo(folder / pipe)
    (folder / "program.py").write_text(WAITS + source)
    how = ["-m", "dynascope", "run"] if recorded else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE")}
    with subprocess.Popen([sys.executable, *how, "program.py"], cwd=folder, env=environment) as started:
        try:
            yield started
        finally:
            started.kill()


@contextmanager
def waiting_at(pipe: Path) -> Iterator[None]:
    """Wait until the program waits at the pipe; let it go on afterwards."""
    with open(pipe, "w"):
        yield


def seen(pid: int) -> dict[str, Any]:
    (process,) = json.loads(CliRunner().invoke(main, ["top", "--json", str(pid)], catch_exceptions=False).output)
    return process


def line_of(folder: Path, mark: str) -> int:
    lines = (folder / "program.py").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if line.endswith(f"# {mark}"))


@pytest.mark.second_leg_only
def test_it_tells_where_a_compile_is_and_for_how_long(tmp_path: Path) -> None:
    with program(tmp_path, COMPILES, "trace", "backend", "guards", "idle") as started:
        with waiting_at(tmp_path / "trace"):
            (compile,) = seen(started.pid)["compiles"]
            assert (compile["function"], compile["compile_id"], compile["thread"]) == ("step", "0/0", "MainThread")
            assert compile["part"] == "Dynamo" and compile["phases"][-1]["name"] == "bytecode_tracing"
            at = compile["at"]
            assert (at["path"], at["line"]) == (str(tmp_path / "program.py"), line_of(tmp_path, "traced"))
            assert at["function"] == "inner" and f"program.py:{at['line']} in inner, which calls " in compile["now"]
            assert at["library"]["path"].endswith("custom_ops.py") and at["library"]["seconds"] <= at["seconds"]
            again = seen(started.pid)["compiles"][0]
            assert again["at"]["seconds"] - at["seconds"] == pytest.approx(again["seconds"] - compile["seconds"])
            assert again["at"]["seconds"] > at["seconds"]
            for each in (compile, again):
                assert 0 < each["now_seconds"] <= each["seconds"] == pytest.approx(sum(each["spent"].values()))
                assert sum(each["parts"].values()) == pytest.approx(each["seconds"])
        with waiting_at(tmp_path / "backend"):
            (compile,) = seen(started.pid)["compiles"]
            assert (compile["part"], compile["backend"]) == ("backend", "slow_backend")
            ends = f"program.py:{line_of(tmp_path, 'ends')}"
            assert compile["now"].startswith("the backend slow_backend compiles the graph that ends at ")
            assert compile["now"].endswith(ends)
        with waiting_at(tmp_path / "guards"):
            (compile,) = seen(started.pid)["compiles"]
            assert (compile["part"], compile["now"], compile["at"]) == ("guards", "Dynamo builds the guards", None)
        with waiting_at(tmp_path / "idle"):
            process = seen(started.pid)
            assert (process["compiles"], process["ended"], process["latest"]) == ([], 1, "step [0/0]")
            text = CliRunner().invoke(main, ["top", "--once", str(started.pid)], catch_exceptions=False).output
            assert "compiles nothing now. 1 compile has ended; the last was step [0/0]" in text
        assert started.wait(120) == 0
    ended = CliRunner().invoke(main, ["top", str(started.pid)])
    assert ended.exit_code == 1 and f"There is no process {started.pid}." in ended.output


@pytest.mark.matrix
def test_a_pass_of_inductor_is_told_by_its_name(tmp_path: Path) -> None:
    with program(tmp_path, INDUCTOR, "pass") as started, waiting_at(tmp_path / "pass"):
        (compile,) = seen(started.pid)["compiles"]
        assert (compile["part"], compile["backend"]) == ("Inductor", "inductor")
        assert "its pass post_grad_custom_post_pass of post_grad_passes" in compile["now"]
        text = CliRunner().invoke(main, ["top", "--once"], catch_exceptions=False).output
        assert "post_grad_custom_post_pass" in text and str(started.pid) in text
        started.kill()


@pytest.mark.matrix
def test_the_compile_of_a_backward_is_told_to_be_later(tmp_path: Path) -> None:
    with program(tmp_path, BACKWARD, "backward") as started, waiting_at(tmp_path / "backward"):
        text = CliRunner().invoke(main, ["top", "--once", str(started.pid)], catch_exceptions=False).output
        assert "the backward or the kernels of loss [0/0]" in text
        started.kill()


@pytest.mark.matrix
def test_children_are_shown_for_their_parent_and_each_has_its_own(tmp_path: Path) -> None:
    source = """
def backend(graph, inputs):
    wait(name)
    return graph.forward
def f(x):
    return x + 1
name = "parent"
child = os.fork()
if child == 0:
    name = "child"
torch.compile(f, backend=backend)(torch.ones(3))
"""
    with (
        program(tmp_path, source, "parent", "child") as started,
        waiting_at(tmp_path / "parent"),
        waiting_at(tmp_path / "child"),
    ):
        output = CliRunner().invoke(main, ["top", "--json", str(started.pid)], catch_exceptions=False).output
        both = json.loads(output)
        assert len(both) == 2 and started.pid in {each["pid"] for each in both}
        assert [[compile["now"][:19] for compile in each["compiles"]] for each in both] == [["the backend backend"]] * 2
        child = next(each["pid"] for each in both if each["pid"] != started.pid)
        assert seen(child)["pid"] == child


@pytest.mark.second_leg_only
def test_a_process_that_is_not_recorded(tmp_path: Path) -> None:
    with program(tmp_path, "wait('plain')", "plain", recorded=False) as started, waiting_at(tmp_path / "plain"):
        ended = CliRunner().invoke(main, ["top", str(started.pid)])
        assert ended.exit_code == 1
        assert "is not recorded, so what it compiles is not known. Start it with `dynascope run`" in ended.output


def test_a_process_that_is_no_python(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as started:
        ended = CliRunner().invoke(main, ["top", str(started.pid)])
        started.send_signal(signal.SIGKILL)
    assert ended.exit_code == 1 and "(cat) is not a Python program" in ended.output
