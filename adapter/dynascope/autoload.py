"""What `import torch` calls in every program of the environment: it records if `DYNASCOPE_RECORD` is set, else returns.

An entry point of the group `torch.backends` (torch 2.5). It imports nothing before it is asked to, and never raises:
torch would end the program.
"""

from __future__ import annotations

import os
import sys


def record_if_asked() -> None:
    if os.environ.get("DYNASCOPE_RECORD", "0") in ("", "0"):
        return
    try:
        from dynascope.agent.recorder import process

        process.begin()
    except Exception as error:
        print(f"dynascope: cannot record: {type(error).__name__}: {error}", file=sys.stderr)
