"""Find a workspace's stores, the newest facts about a file, and stores that have changed.

A program records into `.dynascope/` of the folder it was started in: a folder of the workspace, or one above or below
it. Facts about a library's file may come from any store.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dynascope.facts.launches import is_running
from dynascope.facts.reader import Reader, View
from dynascope.facts.schema import TABLES
from dynascope.facts.store import (
    FILE_NAME,
    FOLDER_NAME,
    FOLDER_VARIABLE,
    WHAT_TO_DO,
    StoreMissing,
    StoreUnreadable,
    decoding,
)

log = logging.getLogger(__name__)

DEPTH = 3
"""The depth to which workspace folders are searched; a deeper store is found when its files are opened."""

_UNKNOWN = (0, 0, 0)
"""What a file that was refused without a look at it is known by."""
_TABLES = re.findall(r"CREATE TABLE (\w+)", TABLES)
"""The tables that every store has."""
_SKIPPED = {"node_modules", "site-packages", "__pycache__", "build", "dist"}


class Store:
    """Open one store file when it appears, and again when it has been replaced."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self.path = path
        self.reader: Reader | None = None
        self._tell = tell
        self._file: tuple[int, int] | None = None
        self._refused: tuple[int, int, int] | None = None
        self._version = 0
        self._running: set[tuple[str, int]] = set()
        """The host and the process id of each run that goes on."""

    def refresh(self) -> bool:
        """Check the file again; return whether its facts, or which runs go on, have changed."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._refused = None
            return self.close()
        except OSError as error:  # a link to itself, a folder that may not be read
            was_open = self.close()
            if self._refused != _UNKNOWN:
                self._refused = _UNKNOWN
                self._tell(f"{self.path} cannot be read ({error.strerror}). {WHAT_TO_DO}")
            return was_open
        if self._refused == (status.st_ino, status.st_size, status.st_mtime_ns):
            return False
        file = (status.st_dev, status.st_ino)
        if self.reader is None or file != self._file:
            was_open = self.close()
            return self._open(file, (status.st_ino, status.st_size, status.st_mtime_ns)) or was_open
        try:
            with decoding():
                version = self.reader.data_version()
                changed, self._version = version != self._version, version
                # a process that is killed writes nothing: the file stays as it is
                running = {each for each in self._running if is_running(*each)}
                changed = changed or running != self._running
                self._running = self._of_runs(self.reader) if changed else running
        except sqlite3.Error as error:
            self.failed(error)
            return True
        return changed

    def failed(self, error: Exception) -> None:
        """Close the store after a failed query, warn once, and ignore the file until it changes."""
        self.close()
        try:
            status = self.path.stat()
            self._refused = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            self._refused = None
        self._tell(f"{self.path} cannot be read ({error}). {WHAT_TO_DO}")

    def check(self) -> None:
        """Look for damage in the whole file. Raises sqlite3.Error."""
        if self.reader is None:
            return
        with decoding():
            for table in _TABLES:
                self.reader.execute(f"SELECT * FROM {table} LIMIT 1").fetchall()
            (found,) = self.reader.execute("PRAGMA quick_check(1)").fetchone()
            lost = "SELECT count(*) FROM compile WHERE function NOT IN (SELECT id FROM string)"
            (nameless,) = self.reader.execute(lost).fetchone()
        if found != "ok" or nameless:
            raise sqlite3.DatabaseError(found.splitlines()[-1] if found != "ok" else "texts are missing")

    def _of_runs(self, reader: Reader) -> set[tuple[str, int]]:
        found = reader.execute("SELECT host, pid FROM run WHERE ended IS NULL")
        return {(host, pid) for host, pid in found if is_running(host, pid)}

    def _open(self, file: tuple[int, int], refusal: tuple[int, int, int]) -> bool:
        try:
            self.reader = Reader.open(self.path)
            with decoding():
                self._version = self.reader.data_version()
                self._running = self._of_runs(self.reader)
        except StoreMissing:
            return False
        except StoreUnreadable as problem:
            self._refused = refusal
            self._tell(str(problem))
            return False
        except sqlite3.Error as error:
            self.failed(error)
            return False
        self._file, self._refused = file, None
        return True

    def close(self) -> bool:
        """Close the reader; return whether there was one."""
        reader, self.reader = self.reader, None
        if reader is None:
            return False
        reader.close()
        return True


class Stores:
    """Keep the stores of a workspace; `generation` grows whenever one of them has changed."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.generation = 0
        self._tell = tell
        self._stores: dict[Path, Store] = {}
        self._considered: set[Path] = set()
        self._folders: dict[Path, bool] = {}
        """The workspace folders: whether each still is one, or has been removed."""
        chosen = os.environ.get(FOLDER_VARIABLE)
        if chosen:
            self.add(Path(chosen) / FILE_NAME)

    def __iter__(self) -> Iterator[Store]:
        return iter(self._stores.values())

    def add(self, path: Path) -> None:
        """Watch the store at this path, whether it exists yet or not."""
        path = Path(os.path.abspath(path))
        if path not in self._stores:
            store = self._stores[path] = Store(path, self._tell)
            if store.refresh():
                self.generation += 1

    def add_folder(self, folder: Path) -> None:
        """Add a workspace folder's own store, those above it, and those up to DEPTH below it."""
        self._folders[folder] = True
        self._considered.clear()
        self.add(folder / FOLDER_NAME / FILE_NAME)
        self.add_above(folder)
        for found in _below(folder, DEPTH):
            self.add(found)

    def add_above(self, folder: Path) -> None:
        """Add the stores in this folder and in those above it, as far as they exist now."""
        for each in (folder, *folder.parents):
            if each in self._considered:
                return
            self._considered.add(each)
            path = each / FOLDER_NAME / FILE_NAME
            if path.exists() and not self._is_removed(each):
                self.add(path)

    def add_beside(self, path: Path) -> None:
        """Add the store in the folder of a file, whether it exists yet or not."""
        if not self._is_removed(path.parent):
            self.add(path.parent / FOLDER_NAME / FILE_NAME)

    def remove_folder(self, folder: Path) -> None:
        """Close the stores of a folder that has left the workspace, also for its open files."""
        self._folders[folder] = False
        for path in [path for path in self._stores if folder in path.parents and self._is_removed(path.parent.parent)]:
            self._stores.pop(path).close()
            self.generation += 1
        self._considered.clear()

    def _is_removed(self, folder: Path) -> bool:
        """Whether a folder is in workspace folders of which all have been removed."""
        around = [self._folders[each] for each in (folder, *folder.parents) if each in self._folders]
        return bool(around) and not any(around)

    def refresh(self) -> bool:
        """Check every store again; return whether any has changed."""
        changed = [store.refresh() for store in self._stores.values()]
        if any(changed):
            self.generation += 1
        return any(changed)

    def view(self, path: str) -> View | None:
        """Return the newest facts about a file in all stores; None without any."""
        found: list[View] = []
        for store, reader in self._open():
            try:
                view = reader.view(path)
            except sqlite3.Error as error:
                store.failed(error)
                continue
            if view is not None:
                found.append(view)
        if len(found) > 1:
            found.sort(key=lambda each: max((c.began for c in each.compiles()), default=0.0), reverse=True)
        return found[0] if found else None

    def folder_of(self, path: str | None) -> Path | None:
        """Return the `.dynascope` with the newest facts about a file; without facts, the first."""
        best = self.view(path) if path is not None else None
        for store, reader in self._open():
            if best is None or best.reader is reader:
                return store.path.parent
        return None

    def readers(self) -> Iterable[Reader]:
        return [reader for _, reader in self._open()]

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Read the stores as they are now until the end: a request makes several queries."""
        with ExitStack() as stack:
            for store, reader in self._open():
                try:
                    stack.enter_context(reader.unchanging())
                except sqlite3.Error as error:
                    store.failed(error)
                    self.generation += 1
            yield

    def failed(self, error: Exception) -> None:
        """Look for the store in which a query has failed: the caller does not know which it was."""
        log.warning("reading facts failed: %s", error)
        suspects = [store for store, _ in self._open()]
        is_passing = isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError)
        if not self.damaged() and len(suspects) == 1 and not is_passing:
            suspects[0].failed(error)  # damage that the check does not find
        self.generation += 1

    def damaged(self) -> bool:
        """Whether a store is found damaged; it is closed, and its user told, then."""
        found = False
        for store, _ in self._open():
            try:
                store.check()
            except sqlite3.Error as error:
                store.failed(error)
                found = True
        self.generation += found
        return found

    def close(self) -> None:
        for store in self._stores.values():
            store.close()

    def _open(self) -> list[tuple[Store, Reader]]:
        return [(store, store.reader) for store in self._stores.values() if store.reader is not None]


def _below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            continue
        if entry.name == FOLDER_NAME:
            yield Path(entry.path, FILE_NAME)
        elif depth > 1 and not entry.name.startswith(".") and entry.name not in _SKIPPED:
            yield from _below(Path(entry.path), depth - 1)
