"""Processes that torch starts for itself, and multiprocessing: which no user has written and nobody debugs."""

from __future__ import annotations

_PARTS = ("torch/_inductor/", "torch._inductor", "cdll.LoadLibrary(", "torch/_C/_", "multiprocessing.resource_tracker")
"""Of command lines: inductor's compile workers, probes of the CPU's instructions, and what tidies up after pools."""


def is_torchs(command_line: str) -> bool:
    """Whether this is the command line of such a process."""
    return any(part in command_line for part in _PARTS)
