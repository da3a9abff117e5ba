"""The file: where it lies, how it is made and opened, and how a file that is not ours is told and left alone."""

from __future__ import annotations

import os
import secrets
import sqlite3
from pathlib import Path

from dynascope.facts.schema import APPLICATION_ID, MIGRATIONS, VERSION

FOLDER_NAME = ".dynascope"
FILE_NAME = "facts.db"
FOLDER_VARIABLE = "DYNASCOPE_FACTS"
"""Environment variable: the folder that takes the place of `.dynascope` in the workspace."""

BUSY_SECONDS = 10.0
"""How long a writer waits for another one; one compile takes milliseconds."""


class StoreError(Exception):
    """Base of what can be wrong with a store; the text is for the user."""


class StoreMissing(StoreError):
    """Nothing has been recorded there."""


class StoreUnreadable(StoreError):
    """The file is damaged, another program's, or a newer Dynascope's. It is left as it is."""


def facts_folder(workspace: str | os.PathLike[str] | None = None) -> Path:
    """Where facts of a workspace (the current folder by default) live: `$DYNASCOPE_FACTS`, or its `.dynascope`."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path(workspace or os.getcwd()) / FOLDER_NAME


def facts_path(workspace: str | os.PathLike[str] | None = None) -> Path:
    """The store of a workspace."""
    return facts_folder(workspace) / FILE_NAME


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. Raises StoreMissing or StoreUnreadable."""
    if not path.exists():
        raise StoreMissing(f"Nothing has been recorded in {path.parent}. Record a program with: dynascope run PROGRAM")
    connection = _connect(path, "ro")
    version = _checked_version(connection, path)
    if version < VERSION:
        connection.close()
        raise StoreUnreadable(
            f"{path} was written by an older Dynascope (version {version}). The next recorded run brings it up to date."
        )
    connection.execute("PRAGMA query_only = ON")
    return connection


def open_for_writing(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode to a store of this version, made or migrated. Raises StoreUnreadable."""
    if not path.exists():
        _create(path)
    connection = _connect(path, "rw")
    if _checked_version(connection, path) < VERSION:
        _migrate(connection)
    connection.execute("PRAGMA synchronous = NORMAL")  # in WAL mode: no fsync per compile, and nothing a kill can break
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Our users guard against concurrent use themselves: a store may be opened by one thread and read by another.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        return sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
    except sqlite3.Error as error:
        raise StoreUnreadable(f"Cannot open {path}: {error}.") from None


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version; closes the connection and raises StoreUnreadable when the file is not for us."""
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        problem = f"{path} cannot be read ({error}). Move it away or delete it; the next recorded run makes a new one."
    else:
        if application == APPLICATION_ID and version <= VERSION:
            return version
        problem = (
            f"{path} was written by a newer Dynascope (version {version}, this one knows {VERSION}). "
            "Update dynascope, or set DYNASCOPE_FACTS to another folder."
            if application == APPLICATION_ID
            else f"{path} is not a store of Dynascope's. Move it away, or set DYNASCOPE_FACTS to another folder."
        )
    connection.close()
    raise StoreUnreadable(problem)


def _create(path: Path) -> None:
    """Make the store aside and link it into place, so that of many processes one makes it and none sees half of it."""
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
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _migrate(connection)
        finally:
            connection.close()
        _put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _put_in_place(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass  # another process was first
    except OSError:
        if not path.exists():  # a file system without hard links
            temporary.rename(path)


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema to this version, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        for migration in MIGRATIONS[version:]:
            for statement in migration.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
