"""Find the files of a store that has been moved with its folder, or that a container has written under another path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dynascope.facts.store import FOLDER_NAME


class MovedFolders:
    """The folders in which programs were recorded, where they are not on this machine."""

    def __init__(self, store: Path, folders: Iterable[str]) -> None:
        """Take the store's path, and the folders of its runs."""
        self._root = os.path.realpath(store.parent.parent) if store.parent.name == FOLDER_NAME else ""
        self._before = sorted({each for each in folders if self._root and not os.path.isdir(each)})

    def now(self, path: str) -> str:
        """Return the path of a recorded file on this machine; itself if the file is not there."""
        for folder in self._before:
            if path.startswith(folder + os.sep):
                found = self._root + path[len(folder) :]
                if os.path.exists(found):
                    return found
        return path

    def recorded(self, path: str) -> list[str]:
        """Return the paths under which a file of this machine may have been recorded."""
        if self._before and path.startswith(self._root + os.sep):
            return [path, *(folder + path[len(self._root) :] for folder in self._before)]
        return [path]
