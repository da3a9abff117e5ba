"""Hash the program's files as Python imports them: Dynamo traces later, and by then they may have been edited."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from typing import Any

from dynascope.agent.program import collector
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.facts.model import hash_source


class ImportedSources:
    """The hashes of the lines of each file of the program, as it was imported after `begin`."""

    def __init__(self) -> None:
        self._hashes: dict[str, bytes] = {}
        self._originals: tuple[Any, Any] | None = None
        """`SourceFileLoader.path_stats`, and the function that replaces it."""

    def begin(self) -> None:
        """Hash the files that are imported already, and those imported from now on."""
        for module in list(sys.modules.values()):
            self._note(getattr(module, "__dict__", {}).get("__file__"))
        original = SourceFileLoader.path_stats

        def path_stats(loader: SourceFileLoader, path: str) -> Any:  # asked once, before a file or its .pyc is read
            found = original(loader, path)
            if self._originals is not None:
                self._note(getattr(sys.modules.get("__main__"), "__file__", None))  # known only once it runs
                self._note(path, is_read_again=True)
            return found

        self._originals = original, path_stats
        SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign,assignment]

    def end(self) -> None:
        """Hash no more files; a replacement that others have wrapped stays, and only forwards."""
        if self._originals is not None:
            original, own = self._originals
            self._originals = None
            if SourceFileLoader.path_stats is own:
                SourceFileLoader.path_stats = original  # type: ignore[method-assign]

    def hashes_of(self, path: str) -> bytes | None:
        """Return the joined hashes of a file's lines as imported; None for other files.

        `path` is a real path.
        """
        return self._hashes.get(path)

    def _note(self, path: object, is_read_again: bool = False) -> None:
        if not isinstance(path, str) or not is_user_code(path) or (path in self._hashes and not is_read_again):
            return
        collector.hook_begins()
        try:
            real = real_path(path)
            is_known = real in self._hashes and not is_read_again
            # a script may come through a pipe, which can be read only once
            if is_user_code(real) and not is_our_code(real) and not is_known and os.path.isfile(real):
                with open(real, "rb") as file:
                    self._hashes[real] = hash_source(file.read())
        except (OSError, ValueError):
            pass
        finally:
            collector.hook_ends()
