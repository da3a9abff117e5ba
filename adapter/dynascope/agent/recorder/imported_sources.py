"""Hash the program's files as Python imports them: Dynamo traces later, and by then they may have been edited."""

from __future__ import annotations

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
        self._has_main = False
        self._path_stats: Any = None
        """The method that is replaced."""

    def begin(self) -> None:
        """Note files from now on, and those that are imported already."""
        for module in list(sys.modules.values()):
            self._note(getattr(module, "__dict__", {}).get("__file__"))
        self._path_stats = original = SourceFileLoader.path_stats

        def path_stats(loader: SourceFileLoader, path: str) -> Any:  # asked once, before a file or its .pyc is read
            found = original(loader, path)
            self.note_main()
            self._note(path)
            return found

        SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign,assignment]

    def end(self) -> None:
        """Note no more files."""
        if self._path_stats is not None:
            SourceFileLoader.path_stats = self._path_stats  # type: ignore[method-assign]
            self._path_stats = None

    def note_main(self) -> None:
        """Note the file that Python runs, which is known only once it runs."""
        if not self._has_main and (path := getattr(sys.modules.get("__main__"), "__file__", None)) is not None:
            self._has_main = True
            self._note(path)

    def hashes_of(self, path: str) -> bytes | None:
        """Return the joined hashes of a file's lines as imported; None for a file not noted.

        `path` is a real path.
        """
        return self._hashes.get(path)

    def _note(self, path: object) -> None:
        if not isinstance(path, str) or not is_user_code(path):
            return
        collector.hook_begins()
        try:
            real = real_path(path)
            if is_user_code(real) and not is_our_code(real):
                with open(real, "rb") as file:
                    self._hashes[real] = hash_source(file.read())
        except (OSError, ValueError):
            pass
        finally:
            collector.hook_ends()
