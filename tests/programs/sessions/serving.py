"""Listens, and compiles again and again until its standard input ends."""

import sys
import threading

import dynascope
import torch


@torch.compile(backend="eager")
def compiled(x):
    return x + 1  #: traced


def rounds(ended):
    count = 0
    while not ended.is_set():
        torch._dynamo.reset()
        compiled(torch.ones(3))
        count += 1  #: counted
        print("round", count, flush=True)
        ended.wait(0.05)


if __name__ == "__main__":
    ended = threading.Event()
    host, port = dynascope.listen()
    print("listening", host, port, flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    if "--wait" in sys.argv:
        dynascope.wait_for_client()
        print("a client came", flush=True)
    rounds(ended)
    print("the end", flush=True)
