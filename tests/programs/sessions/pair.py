"""A thread that compiles beside one that counts."""

import threading
import time

import torch

counted = [0]
done = threading.Event()


@torch.compile(backend="eager")
def compiled(x):
    y = x + 1  #: first
    return y * 2  #: second


def compile_and_run():
    out = compiled(torch.ones(2))
    total = out.sum()  #: ran
    return total.item()  #: after


def count():
    while not done.is_set():
        counted[0] += 1
        time.sleep(0.001)


if __name__ == "__main__":
    counter = threading.Thread(target=count, name="Counter")
    compiler = threading.Thread(target=compile_and_run, name="Compiler")
    counter.start()
    compiler.start()
    compiler.join()
    done.set()
    counter.join()
    print("the end")
