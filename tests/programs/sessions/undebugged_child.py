"""The child of a fork compiles, calls and starts a thread first; its parent does the same when it has ended."""

import os
import threading

import torch


def traced(x):
    return x + 1  #: traced


def called(who):
    print(who, flush=True)  #: called


def work(who):
    torch.compile(traced, backend="eager")(torch.ones(2))
    called(who)
    thread = threading.Thread(target=called, args=(f"{who}'s thread",))
    thread.start()
    thread.join()


if __name__ == "__main__":
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    work("parent" if child else "child")
