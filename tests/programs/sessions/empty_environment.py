"""Starts a process with an empty environment, in the way named on the command line."""

import subprocess
import sys
from pathlib import Path

import torch

CHILD = str(Path(__file__).parent.parent / "never_hit" / "child.py")

torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
before = ["env", "-i"] if sys.argv[1] == "env -i" else []
subprocess.run([*before, sys.executable, CHILD], check=True, env=None if before else {})
print("parent ends")
