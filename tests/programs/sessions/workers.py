"""Children by multiprocessing, each of which compiles; the start method is the argument."""

import multiprocessing
import sys

import torch


def function(x):
    return x + 1  #: traced


def work(number):
    return torch.compile(function, backend="eager")(torch.ones(number)).sum().item()


if __name__ == "__main__":
    work(1)
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print("sums", *pool.map(work, [2]))
        pool.close()
        pool.join()
