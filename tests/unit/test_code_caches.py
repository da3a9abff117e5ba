"""What pydevd keeps of generated code goes with the guards of its compile."""

from __future__ import annotations

import types
from typing import Any

from dynascope.agent.suspension.debugpy.kept import CodeCaches


class Guards:
    """Stands for the guards of a compile, to which there are weak references."""


def test_code_is_forgotten_when_its_guards_go_and_other_code_is_kept() -> None:
    generated, other = (compile(text, "<generated>", "eval") for text in ("1", "2"))
    files: dict[Any, str] = {generated: "file", other: "file"}
    filters: dict[Any, bool] = {("name", generated): True, ("name", other): True}
    caches = CodeCaches(types.SimpleNamespace(get_cache_file_type=lambda: files, _apply_filter_cache=filters))
    guards = Guards()
    caches.drop_with(guards, generated)
    assert len(files) == len(filters) == 2
    del guards
    assert (list(files), list(filters)) == ([other], [("name", other)])
