"""Recognise the processes that torch and multiprocessing start for themselves: no user debugs them."""

from __future__ import annotations

_PARTS = ("torch/_inductor/", "torch._inductor", "cdll.LoadLibrary(", "torch/_C/_", "multiprocessing.resource_tracker")
"""Parts of their command lines: inductor's compile workers, probes of the CPU, multiprocessing's resource tracker."""


def is_torchs(command_line: str) -> bool:
    """Whether this is the command line of such a process."""
    return any(part in command_line for part in _PARTS)
