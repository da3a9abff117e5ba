"""What a notebook asks at a stop of its own process, with debugpy and without."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY

pytestmark = pytest.mark.second_leg

PROGRAM = """\
import sys
import threading

import torch
from dynascope.agent.program.threads import hide_thread
from dynascope.agent.session.api.at_stop import NotAnswered
from dynascope.in_process.at_stop import told


def answer():
    for number, line in enumerate(open(sys.argv[1])):
        try:
            print(told(line.strip()))
        except NotAnswered as error:
            print("refused:", error)
        print("answer", number, flush=True)


asked = threading.Thread(target=answer)
hide_thread(asked)  # as ipykernel hides its threads
asked.start()


def inner(x):
    return x + 1


def outer(x, n):
    y = x * n
    return inner(y)


torch.compile(outer, backend="eager")(torch.ones(3), 2)
print("goes on", flush=True)
asked.join()
"""
INNER, OUTER, LAST = (
    1 + next(at for at, text in enumerate(PROGRAM.splitlines()) if text.startswith(start))
    for start in ("    return x + 1", "    return inner", "torch.compile")
)


@WITH_AND_WITHOUT_DEBUGPY
def test_where_locals_and_commands(client: DapClient, tmp_path: Path, runtime: bool) -> None:
    path, questions = tmp_path / "program.py", tmp_path / "questions"
    path.write_text(PROGRAM)
    os.mkfifo(questions)
    client.launch(
        {"program": str(path), "args": [str(questions)], "console": "internalConsole", "runtime": runtime},
        {path: [INNER]},
    )
    numbers = itertools.count()
    with questions.open("w") as asks:

        def ask(line: str) -> str:
            before = len(client.output("stdout"))
            print(line, file=asks, flush=True)
            client.wait_for_output(f"answer {next(numbers)}\n")
            return client.output("stdout")[before:].rpartition("answer ")[0]

        stop = client.wait_for_stop()
        frames = [row.split() for row in ask("where").splitlines()]
        names = [(row[-2 if "[" not in row[-2] else -3], row[-1]) for row in frames if "──" not in row]
        assert names == [
            ("inner", f"program.py:{INNER}"),
            ("outer", f"program.py:{OUTER}"),
            ("<module>", f"program.py:{LAST}"),
        ]
        assert ask("locals").split() == ["x", "f32[3]", "torch.Tensor"]
        assert "n" in ask("locals --frame 1") and "y" in ask("locals y --frame 1")
        assert ask("locals nothing") == "refused: Locals has no row with `nothing`.\n"
        assert ask("print x.shape[0]").strip() == "3"
        assert "x" in ask("guards x") and "TENSOR_MATCH" in ask("guards L['x']")
        assert "first compile" in ask("why") and "made" in ask("history x")
        assert "There is no `nonsense` here: ask for where, print EXPRESSION, locals," in ask("nonsense")
        assert "There is no frame 9: `%dynascope where` lists the frames." in ask("locals --frame 9")
        running = ask("locals --frame 2")
        assert ("the attached debugger shows its variables" in running) if runtime else ("asked" in running), running
        stop.resume()
        client.wait_for_output("goes on\n")
        assert "refused: No thread is stopped at compile time." in ask("where")
    assert client.wait_for_end() == 0
