"""Compiles and runs; takes each signal as its argument says.

signalled.py default | handler | raises | compiles
"""

import signal
import sys
import time

import torch


@torch.compile(backend="eager")
def compiled(x):
    y = x * 2  #: traced
    return y.sum()


@torch.compile(backend="eager")
def other(x):
    return x + 1


def running():
    return 1  #: running


def on_signal(number, frame):
    seen = signal.Signals(number).name  #: handled
    print("got", seen, flush=True)
    if sys.argv[1] == "raises":
        raise TimeoutError("too late")
    if sys.argv[1] == "compiles":
        print("compiled in the handler", other(torch.ones(2)).sum().item(), flush=True)


if "--serve" in sys.argv:
    import dynascope

    print("listening", *dynascope.listen(), flush=True)
    dynascope.wait_for_client()

if sys.argv[1] != "default":
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM, signal.SIGHUP):
        signal.signal(each, on_signal)

for work in (lambda: compiled(torch.ones(3)), running):
    try:
        work()
        print("done", flush=True)
    except BaseException as error:
        print("interrupted by", type(error).__name__, str(error).split("\n")[0], flush=True)
print("after", compiled(torch.ones(3, dtype=torch.double)).item(), flush=True)
if "--serve" in sys.argv:
    while True:
        print("round", flush=True)
        time.sleep(0.05)
