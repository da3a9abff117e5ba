"""Keep Dynascope's locks usable after fork: the child has only the forking thread, and no other can release a lock."""

from __future__ import annotations

import os
from typing import Any


def fork_safe(lock: Any) -> Any:
    """Return `lock`, held across os.fork() so that the state it guards is consistent in a child."""
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
