"""Detect coverage.py, which on Python 3.11 needs the same trace function as debugpy."""

from __future__ import annotations

import sys
from typing import Any

NOTICE = (
    "coverage.py measures this program. On Python 3.11 it and debugpy share one trace function: run-time breakpoints "
    "may not stop, and lines may be missing from its report. Compile-time stops are not affected. Run without "
    'coverage, set "runtime": false, or use Python 3.12 or newer.\n'
)


def takes_the_trace_function() -> bool:
    """Whether coverage.py now uses `sys.settrace`, which debugpy needs before Python 3.12."""
    coverage: Any = sys.modules.get("coverage")
    current = getattr(getattr(coverage, "Coverage", None), "current", None)
    return sys.version_info < (3, 12) and current is not None and current() is not None
