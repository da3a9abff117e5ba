"""A function that does something when Dynamo traces it for the second time: `killed`, `interrupted`, `waits`."""

import os
import signal
import sys
import time

import torch
from torch._dynamo.comptime import comptime

traced = 0


def notice(ctx):
    global traced
    traced += 1
    if traced != 2:
        return
    print("traced again", flush=True)
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif sys.argv[1] == "interrupted":
        os.kill(os.getpid(), signal.SIGINT)
    while sys.argv[1] == "waits" and not os.path.exists(sys.argv[2]):
        time.sleep(0.02)


def function(x):
    y = x + 1
    comptime(notice)
    z = y * 2
    return z.sum()  #: last


if __name__ == "__main__":
    compiled = torch.compile(function, backend="eager")
    try:
        print("result", compiled(torch.ones(3)).item())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print("result again", compiled(torch.ones(3)).item(), torch._dynamo.utils.counters["frames"]["ok"])
