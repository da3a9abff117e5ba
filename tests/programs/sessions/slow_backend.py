"""Compiles with a backend that takes until the file exists that the command line names."""

import os
import sys
import time

import torch


def slow_backend(graph, inputs):
    print("compiling", flush=True)
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    return graph.forward


def step(x):
    y = x + 1  #: traced
    return y * 2  #: ends


torch.compile(step, backend=slow_backend)(torch.ones(3))
print("done")
