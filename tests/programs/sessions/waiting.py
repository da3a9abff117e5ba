"""Two threads that compile at once: Dynamo lets in one at a time."""

import threading

import torch


@torch.compile(backend="eager")
def first(x):
    return x + 1  #: first


@torch.compile(backend="eager")
def second(x):
    return x + 2  #: second


one = threading.Thread(target=lambda: first(torch.ones(2)), name="One")
two = threading.Thread(target=lambda: second(torch.ones(2)), name="Two")
one.start()
two.start()
one.join()
two.join()
print("both")
