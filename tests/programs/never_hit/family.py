"""Compiles in other processes than its own, in the way named on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import torch

CHILD = str(Path(__file__).with_name("child.py"))


def everywhere(x):
    return x + 1  #: everywhere


def compiles(rank=0):
    torch.compile(everywhere, backend="eager")(torch.ones(3))


def here(x):
    return x * 2


if __name__ == "__main__":
    how = sys.argv[1]
    torch.compile(here, backend="eager")(torch.ones(3))
    if how == "subprocess":
        subprocess.run([sys.executable, CHILD], check=True)
    elif how == "ranks":
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", CHILD]
        subprocess.run(command, check=True)
    elif how == "left":
        process = subprocess.Popen([sys.executable, CHILD])
        print("left", process.pid)
    elif how == "spawn":
        torch.multiprocessing.spawn(compiles, nprocs=1)
    elif how == "fork":
        child = os.fork()
        if not child:
            compiles()
            os._exit(0)
        os.waitpid(child, 0)
    elif how == "foreign":
        subprocess.run(["true"], check=True)
    elif how == "killed":
        os._exit(3)
