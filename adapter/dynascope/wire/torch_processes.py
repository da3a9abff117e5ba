"""Processes that torch itself starts, which no user has written and nobody debugs."""

from __future__ import annotations

_PARTS = ("torch/_inductor/", "torch._inductor", "cdll.LoadLibrary(", "torch/_C/_")
"""Of command lines: inductor's compile workers, and probes of the CPU's instructions."""


def is_torchs(command_line: str) -> bool:
    """Whether this is the command line of such a process."""
    return any(part in command_line for part in _PARTS)
