"""Two threads that compile at once: Dynamo lets in one at a time."""

import sys
import threading
import time

import torch
from torch._dynamo import convert_frame


def double(x: torch.Tensor) -> torch.Tensor:
    return x + x


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def call(function) -> None:
    print(function.__name__, torch.compile(function, backend="eager")(torch.ones(3)))


def waits(thread: threading.Thread) -> bool:
    return sys._current_frames()[thread.ident].f_code.co_filename == convert_frame.__file__


threads = [threading.Thread(target=call, args=(function,), name=function.__name__) for function in (double, square)]
with convert_frame.compile_lock:  # until both have come to it: a stop suspends all threads, wherever they are
    for thread in threads:
        thread.start()
    while not all(waits(thread) for thread in threads):
        time.sleep(0.01)
for thread in threads:
    thread.join()
