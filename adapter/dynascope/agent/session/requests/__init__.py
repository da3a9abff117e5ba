"""The requests of the adapter, one file for each group. To add one, copy an existing file."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load() -> None:
    """Import every group to register its handlers."""
    for group in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{group.name}")
