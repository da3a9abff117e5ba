"""Two threads that compile at once: Dynamo lets in one at a time."""

import threading

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    return x + x


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def call(function) -> None:
    print(function.__name__, torch.compile(function, backend="eager")(torch.ones(3)))


threads = [threading.Thread(target=call, args=(function,), name=function.__name__) for function in (double, square)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
