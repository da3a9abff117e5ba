"""Listens, and trains again and again until its standard input ends; it never asks for compiled autograd."""

import sys
import threading

import dynascope
import torch
from torch._dynamo.utils import counters


def step(number):
    weight = torch.ones(4, 2, requires_grad=True)
    hidden = torch.ones(3, 4) @ weight
    for bit in f"{number:012b}":  # no graph of a step before serves, and none takes longer to capture
        hidden = hidden.sin() if bit == "1" else hidden.cos()  #: forward
    hidden.sum().backward()
    return weight.grad


class Named(threading.Thread):
    """A thread whose name is the program's own code: debugpy asks for it on the thread that stops."""

    @property
    def name(self):
        return "reads"


def rounds(ended):
    number = 0
    while not ended.is_set():
        before = counters["compiled_autograd"]["captures"]
        step(number)
        number += 1
        captured = counters["compiled_autograd"]["captures"] - before
        print("round", "captured" if captured else "eager", flush=True)
        ended.wait(0.05)


if __name__ == "__main__":
    ended = threading.Event()
    host, port = dynascope.listen()
    print("listening", host, port, flush=True)
    Named(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    rounds(ended)
    print("the end", flush=True)
