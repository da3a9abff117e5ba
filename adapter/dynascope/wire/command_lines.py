"""Tell from a command what Python runs for it, and whether torch has started it for itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

MODULES = {"torchrun": "torch.distributed.run", "pytest": "pytest"}
"""The modules that commands run; the interpreter at hand may have no such command on its path."""


def module_or_script(name: str) -> tuple[str | None, str | None]:
    """Return the module that a command runs, or else the path of its script; None for neither."""
    if name in MODULES:
        return MODULES[name], None
    path = shutil.which(name)
    return None, path if path is not None and os.path.isfile(path) and _is_python_script(path) else None


def _is_python_script(path: str) -> bool:
    with open(path, "rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and b"python" in first


def is_torchrun(words: Sequence[str]) -> bool:
    """Whether this is the command line of torchrun, or of `dynascope run torchrun`."""
    return any(os.path.basename(word) == "torchrun" or word in _LAUNCHERS for word in words)


_LAUNCHERS = MODULES["torchrun"], "torch.distributed.launch"
_PARTS = ("torch/_inductor/", "torch._inductor", "cdll.LoadLibrary(", "torch/_C/_", "multiprocessing.resource_tracker")
"""Parts of their command lines: inductor's compile workers, probes of the CPU, multiprocessing's resource tracker."""


def is_torchs(command_line: str) -> bool:
    """Whether this is the command line of such a process."""
    return any(part in command_line for part in _PARTS)
