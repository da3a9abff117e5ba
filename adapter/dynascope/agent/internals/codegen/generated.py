"""Know which files Dynamo skips, and the code that it has generated: what from, and which of it has no hash."""

from __future__ import annotations

import os
import sys
import types
from typing import Any


class NewGeneratedCode:
    """Examine each generated code object once."""

    def __init__(self) -> None:
        self._seen = 0

    def new_unhashable(self) -> types.CodeType | None:
        """Return the first unhashable code since the last call (`convert_frame.output_codes`, 2.0).

        Dynamo puts a function's globals among the constants of code that makes a nested function or class again
        (`NestedUserFunctionVariable.reconstruct`, 2.0), and a code object is hashed with its constants.
        """
        seen = sys.modules["torch._dynamo.convert_frame"].output_codes.seen
        if len(seen) < self._seen:  # torch._dynamo.reset()
            self._seen = 0
        new, self._seen = seen[self._seen :], len(seen)
        codes = (reference() for reference in new)
        return next((code for code in codes if code is not None and not is_hashable(code)), None)


def is_hashable(code: types.CodeType) -> bool:
    """Whether `code` has a hash; what `NestedUserFunctionVariable` (2.0) makes again has none."""
    try:
        hash(code)
    except TypeError:
        return False
    return True


def waits_for_compile_lock(frame: types.FrameType | None) -> bool:
    """Whether a thread whose innermost frame is `frame` waits to compile.

    `CatchErrorsWrapper.__call__` (2.1) takes `convert_frame.compile_lock` (2.0), for one compile at a time.
    """
    if frame is None:
        return False
    code = frame.f_code
    return code.co_name == "__call__" and code.co_filename == sys.modules["torch._dynamo.convert_frame"].__file__


def is_generated(code: types.CodeType) -> bool:
    """Whether Dynamo generated this code (`convert_frame.output_codes`, 2.0)."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    return code in convert_frame.output_codes


def compiled_from(code: types.CodeType) -> types.CodeType:
    """Return the original of generated code (`convert_frame.orig_code_map`, 2.1), or `code`."""
    convert_frame: Any = sys.modules["torch._dynamo.convert_frame"]
    original: types.CodeType = convert_frame.orig_code_map.get(code, code)
    return original


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
