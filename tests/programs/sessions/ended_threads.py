"""Runs threads one after the other, the objects of which are finalized after the thread has left `threading`."""

import logging
import sys
import threading
import weakref

import torch

if torch.__version__.startswith("2.11."):  # where there is no GPU, it crashes when another thread has set the guard
    torch._C._ensureCUDADeviceGuardSet = lambda: None


class Scale:
    def __init__(self, factor: float, logs: bool) -> None:
        self.factor = factor
        self.logs = logs

    def __del__(self) -> None:
        if self.logs:  # which asks for the current thread, and so leaves a dummy thread
            logging.info("finalized")
        print("finalized", self.factor)  #: finalized


@torch.compile(backend="eager")
def scaled(x, factor):
    return x * factor  #: traced


def main(logs: bool) -> None:
    local = threading.local()
    references = []

    def work(factor: float) -> None:
        local.scale = Scale(factor, logs)
        references.append(weakref.ref(local.scale))
        print(scaled(torch.ones(2), factor).sum().item())  #: runs

    for factor in (2.0, 3.0, 4.0):
        thread = threading.Thread(target=work, args=(factor,))
        thread.start()
        thread.join()
        if not logs:  # a dummy thread counts until another thread gets its identifier
            print("threads", threading.active_count())
        print("alive", sum(each() is not None for each in references))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    main(sys.argv[1:] == ["logs"])
    print("the end")
