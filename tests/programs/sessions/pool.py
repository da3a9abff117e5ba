"""Four threads of a pool compile a function each."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch

together = threading.Barrier(4)


def compile_and_call(number):
    def function(x):
        return x + number  #: traced

    together.wait()
    return torch.compile(function, backend="eager")(torch.ones(2)).sum().item()


if __name__ == "__main__":
    torch.compiler.list_backends()  # torch imports them at the first compile, and fails if several threads do so
    with ThreadPoolExecutor(4, thread_name_prefix="pool") as pool:
        print("sums", *pool.map(compile_and_call, range(4)))  #: pool
