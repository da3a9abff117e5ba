"""Hide from pydevd Dynascope's frames, and code that makes its stack requests fail; hide pydevd from Dynamo."""

from __future__ import annotations

import functools
import types
from typing import Any

from dynascope.agent.internals.codegen.generated import is_hashable
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.user_code import OUR_FOLDER
from dynascope.agent.suspension.debugpy.resuming import Replace


def hide_our_files(debugger: Any, replace: Replace) -> None:
    """Never trace, enter or show Dynascope's files; by path, so that no user file is hidden."""
    original = debugger.dont_trace_external_files

    @functools.wraps(original)  # pydevd compares its name and its patterns
    def dont_trace_external_files(path: str) -> bool:
        return path.startswith(OUR_FOLDER) or bool(original(path))

    replace(debugger, "dont_trace_external_files", dont_trace_external_files)
    cache = debugger.get_cache_file_type()
    for key in [key for key in list(cache) if str(key[1]).startswith(OUR_FOLDER)]:
        cache.pop(key, None)


def hide_unhashable_code(debugger: Any, replace: Replace) -> None:
    """Hide frames of unhashable code, since pydevd caches by code object and would fail."""
    file_type = debugger.get_file_type

    def get_file_type(frame: Any, *args: Any, **kwargs: Any) -> Any:
        code = getattr(frame, "f_code", None)
        if isinstance(code, types.CodeType) and not is_hashable(code):
            return debugger.PYDEV_FILE
        return file_type(frame, *args, **kwargs)

    replace(debugger, "get_file_type", get_file_type)


def hide_paths_from_dynamo(files: Any, replace: Replace) -> None:
    """Keep Dynamo from seeing functions of `os.path` that pydevd's tracer calls (3.11).

    It calls them at the first call into a file. Dynamo skips pydevd's folder, but not those. Takes `pydevd_file_utils`.
    """
    paths_of, known = files.get_abs_path_real_path_and_base_from_file, files.NORM_PATHS_AND_BASE_CONTAINER

    def get_abs_path_real_path_and_base_from_file(filename: str, *args: Any) -> tuple[str, str, str]:
        paths: tuple[str, str, str] = known.get(filename) or unseen(paths_of, filename, *args)
        return paths

    replace(files, paths_of.__name__, get_abs_path_real_path_and_base_from_file)
