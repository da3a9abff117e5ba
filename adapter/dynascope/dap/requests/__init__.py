"""The requests that are served, one file per group. To add one, copy the file beside it and name it in `load`."""

from __future__ import annotations

from importlib import import_module

GROUPS = (
    "lifecycle",
    "breakpoints",
    "data_breakpoints",
    "exceptions",
    "execution",
    "stepping",
    "instructions",
    "inspection",
    "evaluation",
    "completions",
    "setting",
    "documents",
    "cancelling",
    "modules",
    "runtime_only",
)


def load() -> None:
    """Import every group, so that its handlers are registered."""
    for group in GROUPS:
        import_module(f"{__name__}.{group}")
