"""Ask the operating system about processes."""

from __future__ import annotations

import os


def exists(pid: int) -> bool:
    """Whether there is a process with this id on this machine, of any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True
