"""Read which files Dynamo skips."""

from __future__ import annotations

import os
import sys
from typing import Any


def why_file_is_skipped(path: str) -> str | None:
    """Return why Dynamo traces no code of this file, neither as a frame nor inlined, or None.

    Reads `trace_rules.check_file` (2.0), which uses only the path as the file was imported. None if not imported.
    """
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    check = getattr(rules, "check_file", None)
    if check is None:
        return None
    path = _as_imported(path, rules.__file__)
    inlined = check(path, is_inlined_call=True)
    return inlined.reason if check(path).skipped and inlined.skipped else None


def _as_imported(path: str, file_of_torch: str) -> str:
    """Return `path` below the packages of `file_of_torch`, if symbolic links lead there."""
    packages = file_of_torch[: file_of_torch.rindex(f"{os.sep}torch{os.sep}")]
    real = os.path.realpath(packages) + os.sep
    return os.path.join(packages, path[len(real) :]) if path.startswith(real) else path
