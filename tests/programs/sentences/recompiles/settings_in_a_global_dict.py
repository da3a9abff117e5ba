"""Thresholds are tuned in a dict that a compiled filter reads."""

import torch

SETTINGS = {"threshold": 0.5, "margin": 2, "soft": True}


@torch.compile(backend="aot_eager")
def keep(scores):
    margin = SETTINGS["margin"] * 0.01
    if SETTINGS["soft"]:
        return torch.sigmoid((scores - SETTINGS["threshold"]) / margin)
    return (scores > SETTINGS["threshold"]).float()


torch.manual_seed(0)
scores = torch.rand(5)
for threshold in (0.5, 0.6, 0.7, 0.8):
    SETTINGS["threshold"] = threshold
    print(threshold, keep(scores).sum().item())

# function: keep
# compiles: 2
# over: yes
# next: SETTINGS.update(threshold=0.33), keep(scores)
# remedy: 19 -> SETTINGS["threshold"] = torch.tensor(threshold)   -> compiles 1
# remedy: 8 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 1
# remedy: +8 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
