"""Waits in code that is not Python until it is ended."""

import time

import torch


def hang():
    print("hanging", flush=True)
    time.sleep(600)  #: hangs


print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)))
hang()
