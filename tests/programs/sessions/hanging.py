"""Waits in code that is not Python until it is ended."""

import time

import torch


def hang():
    # on one line: between two, a pause would be in time
    _ = print("hanging", flush=True), time.sleep(600)  #: hangs


print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)))
hang()
