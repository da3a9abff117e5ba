"""Keep Dynamo from tracing the debugger, and read which files it skips."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any


def never_trace(paths: Iterable[str]) -> None:
    """Add paths to Dynamo's skip list (`trace_rules.SKIP_DIRS` and `_recompile_re`, 2.1).

    On Python 3.11 pydevd's Python runs under the eval-frame hook, and the autograd engine calls Dynascope's wrappers.
    """
    rules: Any = sys.modules["torch._dynamo.trace_rules"]
    for path in paths:
        entry = os.path.realpath(path) + (os.sep if os.path.isdir(path) else "")
        if entry not in rules.SKIP_DIRS:
            rules.SKIP_DIRS.append(entry)
    rules._recompile_re()


def hide_from_guards(paths: Iterable[str]) -> None:
    """Keep files out of guards' provenance (`symbolic_shapes.uninteresting_files()`, 2.0).

    Call at the first compile, not before: its first call imports torch.export, which is circular during import.
    """
    symbolic_shapes: Any = sys.modules["torch.fx.experimental.symbolic_shapes"]
    symbolic_shapes.uninteresting_files().update(paths)


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
