"""Twenty programs record into one store and are killed at random: it opens, and holds all that they had committed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME

from tests.support.facts import sample
from tests.support.marks import ROOT

WRITERS = 20
PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = [{adapter!r}, {root!r}]
from tests.support.facts import sample
from dynascope.facts.writer import Writer
folder = Path({folder!r})
writer = Writer(folder / {file!r}, sample.new_run(folder, "launch " + sys.argv[1]))
facts = sample.first_compile(str(folder / "model.py"), str(folder / "layers.py"))
while True:
    print(writer.write(facts), flush=True)
"""


@pytest.mark.matrix
def test_killed_writers_lose_nothing_they_committed(tmp_path: Path):
    sample.write_workspace(tmp_path)
    program = PROGRAM.format(adapter=str(ROOT / "adapter"), root=str(ROOT), folder=str(tmp_path), file=FILE_NAME)
    chance = random.Random(5)
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(WRITERS)
    ]
    committed: list[int] = []
    for writer in chance.sample(writers, WRITERS):
        assert writer.stdout is not None
        committed.append(int(writer.stdout.readline()))  # it writes, so that the kill comes amid its work
        time.sleep(chance.random() / 20)
        writer.send_signal(signal.SIGKILL)
        committed += map(int, writer.stdout.read().split("\n")[:-1])
        writer.wait()
        writer.stdout.close()
    with Reader.open(tmp_path / FILE_NAME) as reader:
        assert reader._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = {compile.id for compile in reader.compiles()}
        assert len(set(committed)) == len(committed)
        assert set(committed) <= kept
        assert len(kept) - len(committed) <= WRITERS  # at most the one each had not yet told of
        assert len(reader.runs()) == WRITERS
        for number in chance.sample(sorted(kept), 20):
            facts = reader.compile(number)
            assert facts is not None and (len(facts.tensors), len(facts.graph_breaks)) == (5, 1)
