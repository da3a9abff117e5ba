"""Record and listen if the environment asks: `import torch` calls this in every program of the environment.

DYNASCOPE_RECORD=1           record (`dynascope.agent.recorder.process`)
DYNASCOPE_LISTEN=0           call `dynascope.listen()` with a free port; `5678` or `HOST:5678` with that one

It is an entry point of the group `torch.backends` (torch 2.5). It imports nothing unless it is asked, and never raises:
torch would end the program.
"""

from __future__ import annotations

import os
import sys

LISTEN_VARIABLE = "DYNASCOPE_LISTEN"


def begin_if_asked() -> None:
    """Begin what the environment asks of this process."""
    if os.environ.get("DYNASCOPE_RECORD", "0") not in ("", "0"):
        try:
            from dynascope.agent.recorder import process

            process.begin()
        except Exception as error:
            print(f"dynascope: cannot record: {type(error).__name__}: {error}", file=sys.stderr)
    if asked := os.environ.get(LISTEN_VARIABLE, ""):
        try:
            from dynascope.agent.session.startup import listener

            listener.listen_as_asked(asked)
        except Exception as error:
            print(f"dynascope: {LISTEN_VARIABLE}={asked}: cannot listen: {error}", file=sys.stderr)
