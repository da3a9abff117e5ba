"""Record and listen if the environment asks: `import torch` calls these in every program of the environment.

DYNASCOPE_RECORD=1           record (`dynascope.agent.recorder.process`, which has DYNASCOPE_STARTED_BY, too)
DYNASCOPE_LISTEN=0           call `dynascope.listen()` with a free port; `5678` or `HOST:5678` with that one

They are entry points of the group `torch.backends` (torch 2.5). They import nothing unless they are asked, and never
raise: torch would end the program.
"""

from __future__ import annotations

import os
from contextlib import suppress

LISTEN_VARIABLE = "DYNASCOPE_LISTEN"


def record_if_asked() -> None:
    """Record the compiles of this process if the environment asks."""
    if not {"DYNASCOPE_RECORD", "DYNASCOPE_STARTED_BY"} & {*os.environ}:
        return
    try:
        from dynascope.agent.recorder import process

        process.ask_if_started_by_another()
        if process.is_asked():
            process.begin(is_autoloaded=True)
    except Exception as error:
        _say(f"cannot record: {type(error).__name__}: {error}")


def listen_if_asked() -> None:
    """Let a debugger attach to this process if DYNASCOPE_LISTEN says so."""
    asked = os.environ.get(LISTEN_VARIABLE, "")
    if not asked:
        return
    try:
        from dynascope.agent.session.startup import listener

        listener.listen_as_asked(asked)
    except Exception as error:
        _say(f"{LISTEN_VARIABLE}={asked}: cannot listen: {error}. 0 takes a free port.")


def _say(text: str) -> None:
    with suppress(Exception):
        from dynascope.agent.program.this_process import say

        say(text)
