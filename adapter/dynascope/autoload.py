"""Start recording if `DYNASCOPE_RECORD` is set: `import torch` calls this in every program of the environment.

It is an entry point of the group `torch.backends` (torch 2.5). It imports nothing unless it records, and never raises:
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
