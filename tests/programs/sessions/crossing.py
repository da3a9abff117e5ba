"""Graph breaks that Dynamo resumes from, in a call, in a loop, and one that it does not; a function that it skips."""

import sys

import torch


def breaks(x):
    y = x + 1  #: before_the_break
    torch._dynamo.graph_break()  #: the_break
    y *= 2  #: behind_the_break
    return y + 1  #: breaks_returns


def breaks_twice(x):
    y = x + 1
    z = y.sum().item() + y.mean().item()  #: both_breaks
    return y + z  #: breaks_twice_returns


def nested(x):
    z = breaks(x)  #: calls_what_breaks
    return z + 1  #: nested_returns


def guarded(x):
    try:
        y = breaks(x)  #: breaks_in_a_try
        y = y + 3  #: behind_the_trys_break
    finally:
        y = x * 2  #: finally
    return y  #: guarded_returns


def loops(x):
    for number in range(2):  #: loop
        x = x + number  #: in_the_loop
        torch._dynamo.graph_break()  #: break_in_the_loop
        x = x * 2  #: behind_the_loops_break
    return x  #: loops_returns


@torch._dynamo.disable
def skipped(x):
    return x + 4


def whole(x):
    a = nested(x)  #: first
    b = guarded(a)  #: guards
    c = loops(b)  #: calls_the_loop
    d = skipped(c)  #: calls_what_is_skipped
    return d.sum()  #: last


def run(function):
    compiled = torch.compile(function, backend="eager")
    value = compiled(torch.ones(2))  #: runs
    return value.sum().item()  #: ran


FUNCTIONS = breaks, breaks_twice, guarded, loops, whole
print("result", run({function.__name__: function for function in FUNCTIONS}[sys.argv[1]]))
