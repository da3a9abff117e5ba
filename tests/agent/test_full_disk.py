"""A program recorded onto a full disk prints and returns what it does alone; one sentence says that it is not kept."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dynascope.agent.program.this_process import say
from dynascope.agent.recorder.process import _Recording
from dynascope.facts.launches import LAUNCH_VARIABLE
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, StoreError

from tests.support.facts import sample
from tests.support.fork_server import search_path

PROGRAM = """
import sys
import torch

@torch.compile(backend="eager", dynamic=False)
def f(x):
    print("tracing breaks here")
    return x * 2

print(sum(float(f(torch.ones(size)).sum()) for size in range(1, 6)))
print("a word on stderr", file=sys.stderr)
sys.exit(3)
"""

BLAT = 4
"""The bytes that `tempfile` writes into a folder to see whether it can be used; without one, Dynamo is not imported."""


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Fail each write behind this size in a file, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_recording_stops_with_one_sentence_wherever_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LAUNCH_VARIABLE, "launch 1")
    facts = sample.first_compile("/nosuch/model.py", "/nosuch/layers.py")
    kept = set()
    for size in (0, 1, 100, 4096, 20_000, 60_000, 120_000, 160_000, 200_000, 260_000):
        said: list[str] = []
        path = tmp_path / str(size) / FILE_NAME
        recording = _Recording(path, is_first=True)
        recording.say = said.append
        with files_of_at_most(size):
            for _ in range(40):
                recording.write(facts)
            recording.end()
        (message,) = said
        assert message.startswith("recording has stopped: ") and str(path.parent) in message, message
        try:
            with Reader.open(path) as reader:
                kept.add(len(reader.compiles()))
        except StoreError:
            kept.add(0)
    assert 0 in kept and max(kept) > 0


def test_a_word_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for stream in (None, io.StringIO(), open("/dev/full", "w")):  # noqa: SIM115 -- closed by the last flush
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(sys, "__stderr__", stream)
        if not isinstance(stream, io.StringIO):
            say("a word")
    stream.close()  # nothing is left to be written, which fails here


def run(folder: Path, size: int, *command: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run the program where no file gets larger than `size`."""
    (folder / "program.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE_")}
    return subprocess.run(
        [sys.executable, *command, "program.py"],
        env=environment | {"PYTHONPATH": search_path(), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        timeout=200,
    )


@pytest.mark.matrix
@pytest.mark.real_processes
@pytest.mark.parametrize("size", [0, BLAT, 100_000])
def test_the_program_is_left_alone(tmp_path: Path, size: int):
    plain, recorded = run(tmp_path, size), run(tmp_path, size, "-m", "dynascope", "run")
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    if size >= BLAT:
        assert recorded.returncode == 3
    else:  # a disk so full that Dynamo is not imported
        assert "No usable temporary directory" in plain.stderr
    (said,) = [each for each in recorded.stderr.splitlines() if each not in plain.stderr.splitlines()]
    assert "recording has stopped" in said


@pytest.mark.matrix
@pytest.mark.real_processes
def test_it_is_left_alone_where_nothing_can_be_said_of_it(tmp_path: Path):
    with open("/dev/full", "wb") as full:
        plain, recorded = (run(tmp_path, BLAT, *how, stderr=full.fileno()) for how in ([], ["-m", "dynascope", "run"]))
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    assert recorded.stdout.endswith("30.0\n")
