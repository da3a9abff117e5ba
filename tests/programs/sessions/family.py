"""Starts children that try hard to survive their parent, writes their pids to the file named on the command line, and
compiles.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

SLEEP = "import time; time.sleep(600)"
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {sleep!r}], stdout=subprocess.DEVNULL, {options})
print(child.pid)
"""


def orphan(options):
    """A process whose parent ends at once."""
    parent = PARENT.format(sleep=SLEEP, options=options)
    return int(subprocess.check_output([sys.executable, "-c", parent]))


def start_family():
    plain = subprocess.Popen([sys.executable, "-c", SLEEP])
    own_session = subprocess.Popen([sys.executable, "-c", SLEEP], start_new_session=True)
    in_own_session = orphan("start_new_session=True")
    without_environment = orphan("env={}")
    stubborn = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP]
    )
    return [plain.pid, own_session.pid, in_own_session, without_environment, stubborn.pid]


def traced(x):
    return x + 1  #: traced


if __name__ == "__main__":
    pids = [os.getpid(), *start_family()]
    Path(sys.argv[1]).write_text(" ".join(map(str, pids)))
    if "--torch" in sys.argv:
        import torch

        torch.compile(traced, backend="eager")(torch.ones(3))
    time.sleep(600)  #: sleep
