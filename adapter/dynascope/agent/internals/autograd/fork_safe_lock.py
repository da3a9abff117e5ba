"""Locks of ours in a program that forks: a child has only the thread that forked, and no other lets a lock go."""

from __future__ import annotations

import os
from typing import Any


def fork_safe(lock: Any) -> Any:
    """The same lock; whoever forks holds it meanwhile, so that what it guards is whole in the child, too."""
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
