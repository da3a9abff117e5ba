"""A debug session with `record`: what Dynamo decides is kept, as `dynascope run` keeps it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_NAME

from tests.dap.client import DapClient

PROGRAM = """\
import torch

@torch.compile(backend="eager")
def f(x):
    y = x + 1                  # line 5
    torch._dynamo.graph_break()
    return y * 2

print(f(torch.ones(3)))
"""


@pytest.mark.parametrize("record", [True, False])
def test_a_session_records_when_asked_to(spawn: Callable[..., DapClient], tmp_path: Path, record: bool):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    client = spawn()
    client.launch(
        {"program": str(program), "cwd": str(tmp_path), "console": "internalConsole", "record": record}, {program: [5]}
    )
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where() == ("f [0/0]", 5)
    stop.resume()
    assert client.wait_for_end() == 0
    store = tmp_path / FOLDER_NAME / FILE_NAME
    assert store.exists() is record
    if record:
        with Reader.open(store) as reader:
            assert len(reader.compiles()) == 2
