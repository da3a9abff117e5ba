"""Calls that Dynamo does not trace, and some that look as if."""

import logging
import os
import threading
import time
import uuid
import warnings
from functools import partial

import torch

logger = logging.getLogger(__name__)


@torch.compile(backend="eager")
def printing(x):
    y = x + 1
    print("sum", y.shape)  # breaks
    return y * 2


@torch.compile(backend="eager")
def logging_too(x):
    logger.info("shape %s", x.shape)  # breaks
    y = x + 1
    logger.warning("done")  # breaks
    return y


@torch.compile(backend="eager")
def warning(x):
    y = x * 2
    warnings.warn("careful", stacklevel=2)  # breaks
    return y


@torch.compile(backend="eager")
def timing(x):
    began = time.perf_counter()  # breaks
    y = x @ x
    took = time.perf_counter() - began  # breaks
    return y * (took > 0)


@torch.compile(backend="eager")
def the_system(x):
    here = os.getcwd()  # breaks
    there = os.path.exists("/nowhere")  # breaks
    name = os.path.join("a", "b")
    value = os.environ.get("NOTHING", "1")
    return x + len(here) + there + len(name) + len(value)


@torch.compile(backend="eager")
def identities(x):
    key = uuid.uuid4()  # breaks
    lock = threading.Lock()  # breaks
    return x + 1, key, lock


@torch.compiler.disable
def not_compiled(x):
    print("as it likes", x.sum().item())
    return x + 1


@torch.compile(backend="eager")
def calls_what_is_disabled(x):
    y = x * 2
    y = not_compiled(y)  # breaks
    return y * 3


@torch.compile(backend="eager")
def asks_for_it(x):
    y = x + 1
    torch._dynamo.graph_break()  # breaks
    return y + 1


@torch.compile(backend="eager")
def makes_a_module(x):
    layer = torch.nn.Linear(4, 4)  # breaks
    return layer(x)


@partial(torch.compile, backend="eager")
def reads_a_file(x):
    with open(__file__) as file:  # breaks
        first = file.readline()
    return x + len(first)


@torch.compile(backend="eager", disable=True)
def disabled_altogether(x):
    print("not compiled")
    return x


def never_compiled(x):
    print("not compiled", x.sum().item())
    return x


@torch.compile(backend="eager")
def guarded(x, verbose=False):
    if verbose:
        print("x", x)
    with torch.no_grad():
        y = x * 2
    return sum([y, y]) + len(x) + max(1, 2)


def train_step(x, w):
    loss = (x @ w).sum()
    loss.backward()  # breaks
    return loss


def main():
    x = torch.ones(4, 4)
    functions = (
        printing,
        logging_too,
        warning,
        timing,
        the_system,
        identities,
        calls_what_is_disabled,
        asks_for_it,
        makes_a_module,
        reads_a_file,
        disabled_altogether,
        never_compiled,
        guarded,
    )
    for function in functions:
        function(x)
    torch.compile(train_step, backend="eager")(x, torch.ones(4, 4, requires_grad=True))


if __name__ == "__main__":
    main()
