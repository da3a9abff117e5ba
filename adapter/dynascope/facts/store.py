"""The store's file: its path, how it is created and opened, and how another program's file is recognised."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from dynascope.facts.schema import APPLICATION_ID, TABLES, VERSION

T = TypeVar("T")
_FASTEST = 1


class Damaged(sqlite3.DatabaseError):
    """A fact in the file is not one that a writer has written."""


@contextmanager
def decoding() -> Iterator[None]:
    """Raise Damaged where what is done fails because of what has been read."""
    try:
        yield
    except (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise Damaged(f"{type(error).__name__}: {error}") from None


def encoded(value: Any) -> bytes:
    """Return a struct, or a list of structs, as bytes, for `decoded`."""
    return zlib.compress(msgspec.msgpack.encode(value), _FASTEST)


def decoded(data: bytes, kind: type[T]) -> T:
    """Return what was `encoded`. Raises Damaged."""
    with decoding():
        return msgspec.msgpack.decode(zlib.decompress(data), type=kind)


FOLDER_NAME = ".dynascope"
FILE_NAME = "facts.db"
FOLDER_VARIABLE = "DYNASCOPE_FACTS"
"""The environment variable with the folder to use instead of `.dynascope` in the workspace."""

BUSY_SECONDS = 10.0
"""The most seconds that a writer waits for another one; one compile takes milliseconds."""
WHAT_TO_DO = "Move it away or delete it; the next recorded run makes a new one."


class StoreError(Exception):
    """Base of the errors of a store; the text is for the user."""


class StoreMissing(StoreError):
    """Nothing has been recorded there."""


class StoreUnreadable(StoreError):
    """The file is damaged, another program's, or another Dynascope's. It is not changed."""


def facts_folder(workspace: str | os.PathLike[str] | None = None) -> Path:
    """Return `$DYNASCOPE_FACTS`, else `.dynascope` in the workspace (default: current folder)."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(workspace or os.getcwd()) / FOLDER_NAME


def facts_path(workspace: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a workspace's store."""
    return facts_folder(workspace) / FILE_NAME


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write. Raises StoreMissing or StoreUnreadable."""
    if not _is_there(path):
        raise StoreMissing(f"Nothing has been recorded in {path.parent}. Record a program with: dynascope run PROGRAM")
    connection = _connect(path, "ro")
    connection.execute("PRAGMA query_only = ON")
    return connection


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Return an autocommit connection to a store, which it creates. Raises StoreUnreadable."""
    if not _is_there(path):
        _create(path)
    connection = _connect(path, "rw")
    connection.execute("PRAGMA synchronous = NORMAL")  # in WAL mode: no fsync per compile, and nothing a kill can break
    return connection


def in_memory() -> sqlite3.Connection:
    """Return an autocommit connection to a new store without a file; the store ends with it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=256)
    _create_tables(connection)
    return connection


def _is_there(path: Path) -> bool:
    """Whether there is a file. Raises StoreUnreadable for what no store can be, such as a pipe."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # a link to itself, a folder that may not be read
        raise StoreUnreadable(f"{path} cannot be read ({error.strerror}). {WHAT_TO_DO}") from None
    if not stat.S_ISREG(mode):  # SQLite would wait until another process opens the pipe
        what = "is a folder" if stat.S_ISDIR(mode) else "is not a file"
        raise StoreUnreadable(f"{path} {what}. {WHAT_TO_DO}")
    return True


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Connect to a store that can be used. Raises StoreUnreadable."""
    # callers prevent concurrent use themselves: one thread may open a store and another read it
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
    except sqlite3.Error as error:
        raise StoreUnreadable(f"{path} cannot be opened ({error}). {WHAT_TO_DO}") from None
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # some of what is damaged is no text
        problem = f"{path} cannot be read ({error}). {WHAT_TO_DO}"
    else:
        if application == APPLICATION_ID and version == VERSION:
            return connection
        problem = (
            f"{path} was written by another Dynascope, and its tables differ. "
            f"Set DYNASCOPE_FACTS to another folder, or: {WHAT_TO_DO}"
            if application == APPLICATION_ID
            else f"{path} is not a store of Dynascope's. Move it away, or set DYNASCOPE_FACTS to another folder."
        )
    connection.close()
    raise StoreUnreadable(problem)


def _create(path: Path) -> None:
    """Create the store as a temporary file, then link it: no process opens an incomplete one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    ignore = path.parent / ".gitignore"
    if not ignore.exists():
        ignore.touch(mode=0o600)
        ignore.write_text("*\n")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        connection = sqlite3.connect(temporary, isolation_level=None)
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            _create_tables(connection)
        finally:
            connection.close()
        _put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.executescript(f"BEGIN; PRAGMA user_version = {VERSION}; {TABLES} COMMIT")


def _put_in_place(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was first
    except OSError:
        if not path.exists():  # a file system without hard links
            temporary.rename(path)
