"""The request handlers, one file for each group. To add one, copy a similar file."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load() -> None:
    """Import every group, so that its handlers are registered."""
    for group in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{group.name}")
