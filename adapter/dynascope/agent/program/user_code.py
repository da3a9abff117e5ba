"""Distinguish the user's files, where steps stop, from those of packages."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import types
from pathlib import Path

_LIBRARY_FOLDERS = tuple(
    {
        os.path.realpath(folder) + os.sep
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if (folder := sysconfig.get_paths().get(name))
    }
)
_PACKAGE_FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))

real_path = functools.cache(os.path.realpath)
"""Cached without a bound, because a program with inductor imports very many modules."""


@functools.lru_cache(4096)
def package_of(path: str) -> str | None:
    """Return the folder of a real path's package or standard library; None for user code."""
    for marker in _PACKAGE_FOLDERS:
        head, separator, tail = path.rpartition(marker)
        if separator:
            return head + marker + tail.partition(os.sep)[0]
    for folder in _LIBRARY_FOLDERS:
        if path.startswith(folder):
            return folder
    if path.startswith(("<frozen ", sys.base_prefix + os.sep + "lib" + os.sep)):
        return "<standard library>"
    return None


def is_user_code(path: str) -> bool:
    """Whether a file (a real path) belongs to no installed package and not to Python itself."""
    return package_of(path) is None


def path_of(code: types.CodeType) -> str:
    return path_of_file(code.co_filename)


def path_of_file(name: str) -> str:
    """Return a file's real path; for code without a file its name, such as `<eval_with_key>.3`."""
    return real_path(name) if has_file(name) else name


def has_file(name: str) -> bool:
    """Whether code of this name is from a file."""
    return bool(name) and not name.startswith("<")


def is_users(path: str) -> bool:
    return is_user_code(real_path(path))


def package_of_file(path: str) -> str | None:
    """Return the folder of a file's package or standard library; None for the program's files."""
    return package_of(real_path(path))


OUR_FOLDER = str(Path(__file__).resolve().parents[2]) + os.sep
"""The folder of the package `dynascope`."""
NEVER_TRACED = [os.path.join(OUR_FOLDER, room) for room in ("agent", "explain", "facts", "wire")]
"""Dynascope's folders that run in a program; without its `__init__.py`, as Dynamo inlines `dynascope.breakpoint()`."""
_TORCH_DYNAMO = f"{os.sep}torch{os.sep}_dynamo{os.sep}"


def is_our_code(path: str) -> bool:
    """Whether a file is Dynascope's, or the part of Python that starts programs (`runpy`)."""
    return real_path(path).startswith(OUR_FOLDER) or path == "<frozen runpy>"


def is_torch_dynamo(path: str) -> bool:
    """Whether a file is a part of TorchDynamo."""
    return _TORCH_DYNAMO in path
