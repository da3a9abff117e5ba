"""What debugging costs a capture of compiled autograd that nobody looks into.

The graph is not compiled, so that nothing hides the cost: with any real compiler behind it the share is far smaller.
Plain and attached captures alternate; a case counts as its fastest capture, in CPU seconds. The bias: it measures many
layers of small tensors, where a capture is nothing but Python between C++ nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from dynascope.agent.backward.debugger import BackwardDebugger
from dynascope.agent.backward.table import BackwardTable
from dynascope.agent.breakpoints.hits import AgentBreakpoint
from dynascope.agent.suspension.interface import Suspension
from dynascope.wire.dap import FunctionBreakpoint
from torch._dynamo import compiled_autograd

LAYERS = 40
ROUNDS = 12


def one_capture() -> float:
    """Seconds of one backward that is captured anew."""
    inputs = torch.randn(4, 8)
    weights = [torch.randn(8, 8, requires_grad=True) for _ in range(LAYERS)]
    for weight in weights:
        inputs = (inputs @ weight).tanh()
    loss = inputs.sum()
    torch._C._dynamo.compiled_autograd.clear_cache()
    began = time.process_time()
    with compiled_autograd._enable(lambda graph: graph):
        loss.backward()
    return time.process_time() - began


def debugged(name: str | None) -> Callable[[], float]:
    """A capture under a debugger; `name`: with a function breakpoint that it never meets."""

    def capture() -> float:
        debugger = BackwardDebugger(lambda *stop: "continue", Suspension(), lambda message: None)
        if name is not None:
            breakpoint = AgentBreakpoint(FunctionBreakpoint(id=1, name=name), None)
            debugger.table = BackwardTable().with_names([(name, breakpoint)])
        try:
            return one_capture()
        finally:
            debugger.remove()

    return capture


def main() -> None:
    cases = {"plain": one_capture, "attached": debugged(None), "with a breakpoint": debugged("NoSuchBackward0")}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, capture in cases.items():
            seconds[name].append(capture())
    plain = min(seconds["plain"])
    print(f"torch {torch.__version__}, {LAYERS} layers")
    for name, measured in seconds.items():
        fastest = min(measured)
        print(f"{name:20} {fastest * 1000:8.1f} ms  {fastest / plain:5.2f} x")


if __name__ == "__main__":
    main()
