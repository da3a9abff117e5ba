"""Backwards on threads of the program's own, one after the other."""

import threading

import torch


def step(name):
    weight = torch.ones(4, 2, requires_grad=True)
    loss = (torch.ones(3, 4) @ weight).sin().sum()  #: forward
    loss.backward()  #: backward
    print(name, weight.grad.shape, flush=True)  #: after


if __name__ == "__main__":
    for name in ("One", "Two"):
        thread = threading.Thread(target=step, args=(name,), name=name)
        thread.start()
        thread.join()
    print("the end")
