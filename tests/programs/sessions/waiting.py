"""Two threads that compile at once: Dynamo lets in one at a time."""

import sys
import threading
import time

import torch
from torch._dynamo import convert_frame

if torch.__version__.startswith("2.11."):  # where there is no GPU, it crashes when another thread has set the guard
    torch._C._ensureCUDADeviceGuardSet = lambda: None


@torch.compile(backend="eager")
def first(x):
    return x + 1  #: first


@torch.compile(backend="eager")
def second(x):
    return x + 2  #: second


def waits(thread):
    return sys._current_frames()[thread.ident].f_code.co_filename == convert_frame.__file__


one = threading.Thread(target=lambda: first(torch.ones(2)), name="One")
two = threading.Thread(target=lambda: second(torch.ones(2)), name="Two")
with convert_frame.compile_lock:  # until both have come to it: a stop suspends all threads, wherever they are
    one.start()
    two.start()
    while not (waits(one) and waits(two)):
        time.sleep(0.01)
one.join()
two.join()
print("both")
