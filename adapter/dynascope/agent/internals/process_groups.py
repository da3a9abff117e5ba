"""Read how long the collectives of this process wait for other ranks."""

from __future__ import annotations

import contextlib
import sys
from typing import Any


def collective_timeouts() -> dict[str, float]:
    """Return seconds by backend, of process groups with other ranks; the least of several.

    `torch.distributed.distributed_c10d._world.pg_map` (2.0), `Backend.options` (2.6).
    """
    distributed: Any = sys.modules.get("torch.distributed.distributed_c10d")
    found: dict[str, float] = {}
    for group in [] if distributed is None else list(distributed._world.pg_map):
        for device in group._device_types if group.size() > 1 else ():
            with contextlib.suppress(RuntimeError, AttributeError):  # not every backend has options
                backend = group._get_backend(device)
                seconds = backend.options._timeout.total_seconds()
                found[backend.name()] = min(seconds, found.get(backend.name(), seconds))
    return found
