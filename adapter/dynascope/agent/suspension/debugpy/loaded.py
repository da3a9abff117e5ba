"""Whether debugpy's debugger is in this process, and how to do without it."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any


def is_loaded() -> bool:
    """Whether debugpy's debugger is in this process."""
    constants: Any = sys.modules.get("_pydevd_bundle.pydevd_constants")
    return constants is not None and constants.get_global_debugger() is not None


@contextlib.contextmanager
def unloaded() -> Iterator[None]:
    """End debugpy's debugger, and let another start, whose adapter is not to be debugged."""
    from _pydev_bundle import pydev_monkey

    pydevd: Any = importlib.import_module("pydevd")
    pydevd.stoptrace()
    pydevd.SetupHolder.setup = None  # else child processes of the program connect to the adapter of this debugger
    with pydev_monkey.skip_subprocess_arg_patch():
        yield
