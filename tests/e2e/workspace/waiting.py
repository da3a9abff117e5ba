"""Waits for a debugger, then compiles."""

import dynascope
import torch


def double(x: torch.Tensor) -> torch.Tensor:
    y = x + x
    return y.relu()


host, port = dynascope.listen()
print(f"listening on {host}:{port}", flush=True)
dynascope.wait_for_client()
print("result:", torch.compile(double, backend="eager")(torch.ones(3)), flush=True)
