"""Calls to choose from, a loop, a graph break: for instruction breakpoints, steps by instruction and their listing."""

import torch


def double(t):
    return t * 2  #: double


def shift(t, by):
    return t + by  #: shift


def fn(x, by):
    y = shift(double(x.abs()), by)  #: calls
    z = shift(  #: statement
        torch.relu(y),  #: relu
        by=len(str(by)),  #: by
    )  #: end_of_statement
    torch._dynamo.graph_break()  #: graph_break
    for _ in range(2):  #: loop
        z = z - y  #: loop_body
    return z  #: last


def main():
    torch.compile(fn, backend="eager")(torch.ones(2, 3), 1)


def main_twice():
    compiled = torch.compile(fn, backend="eager", dynamic=False)
    compiled(torch.ones(2, 3), 1)
    compiled(torch.ones(2, 4), 1)
