"""Run the jobs of tests/programs/ranks, recorded: each rank a process, killed when one has told that the ranks part."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from itertools import cycle
from pathlib import Path

from msgspec import Struct

FOLDER = Path(__file__).parents[1] / "programs/ranks"
SECONDS = 240.0
_RANKS = re.compile(r"\(ranks: (\d)\)")
_PARTS = re.compile(r"# PARTS ?(.*)")


class Job(Struct):
    """A job: its program, its ranks, and for one that diverges the line where they part, and a value told of it."""

    path: Path
    backend: str

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def ranks(self) -> int:
        found = _RANKS.search(self.text)
        return 2 if found is None else int(found[1])

    @property
    def parts_at(self) -> tuple[int, str]:
        for number, line in enumerate(self.text.splitlines(), 1):
            if found := _PARTS.search(line):
                return number, found[1]
        raise ValueError(f"{self.path} has no line with # PARTS")


def jobs(kind: str) -> list[Job]:
    """Return the jobs of a folder: `diverging`, `failing` or `harmless`."""
    return [Job(*each) for each in zip(sorted((FOLDER / kind).glob("*.py")), cycle(["aot_eager", "inductor"]))]


def run(job: Job, folder: Path, *, is_recorded: bool = True) -> tuple[int, str]:
    """Run a job until it ends, or tells that its ranks part; return its exit code and all that it has written."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(FOLDER)])),
        "JOB_BACKEND": job.backend,
        "JOB_SECONDS": "30",
        "OMP_NUM_THREADS": "1",
        "DYNASCOPE_FACTS": str(folder),
    }
    if is_recorded:
        environment["DYNASCOPE_RECORD"] = "facts"
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={job.ranks}"]
    process = subprocess.Popen(
        [sys.executable, *launcher, str(job.path)],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    written = []
    timer = threading.Timer(SECONDS, process.terminate)
    timer.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            written.append(line)
            if "dynascope: " in line and " from rank" in line:
                break
        else:
            process.wait()
    finally:
        timer.cancel()
        process.terminate()  # torchrun ends its ranks
        process.communicate()
    return process.returncode, "".join(written)
