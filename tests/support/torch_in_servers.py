"""Make torch quick in the processes that a server forks: nothing of it is what a test asks for.

Loaded by the servers of `fork_server` and `nonperturbation`, which have imported torch.
"""

from __future__ import annotations

import os
import sys
import weakref


def leave_out_guard_latency() -> None:
    """Have `torch._dynamo.guards.profile_guard_manager` (2.11) measure nothing, if torch's guards are imported.

    It empties the processor's cache first, to measure how long the guards take: that takes 33 ms of each compile, for a
    number that is only logged.
    """
    guards = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        vars(guards)["profile_guard_manager"] = _no_latency


def _no_latency(root: object, locals: object, iterations: int) -> float:
    return 0.0


def keep_finalizers_from_the_end() -> None:
    """Leave out at a program's end the finalizers that are there now: those of torch's operators take 50 ms."""
    for each in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        each.atexit = False


def modules_of_a_compile() -> list[str]:
    """Return the modules that a first compile imports, as a process of its own finds them: a third of its time."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        import torch

        try:
            before = set(sys.modules)
            layer = torch.compile(torch.nn.Linear(2, 2), backend="aot_eager", dynamic=True)
            layer(torch.ones(3, 2)).sum().backward()
            os.write(writer, "\n".join(name for name in sys.modules if name not in before).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as names:
        found = names.read().split()
    os.waitpid(pid, 0)
    return found
