"""Files by which debuggers find the programs that listen: `listen-<port>.json` in the user's runtime directory.

They have the tokens, so that only their owner can read them, and go with the processes.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import msgspec

from dynascope import processes
from dynascope.encodable import encoded
from dynascope.wire.channel import TOKEN_VARIABLE


class ListeningProgram(msgspec.Struct):
    """A program that has called `dynascope.listen()`, as its file describes it."""

    token: str
    host: str = "127.0.0.1"
    port: int = 0
    pid: int = 0
    program: str = ""
    """The command line after `python`, quoted for a shell."""
    folder: str = ""
    """The current folder when it began to listen."""
    rank: int | None = None
    """The RANK of a process of `torch.distributed`."""

    @property
    def address(self) -> str:
        """Return where it is reached on its own machine, as HOST:PORT."""
        host = "127.0.0.1" if self.host in ("", "0.0.0.0", "::") else self.host
        return f"{f'[{host}]' if ':' in host else host}:{self.port}"


def token_file(port: int) -> Path:
    """Return the path of the file of the program that listens on a port of this machine."""
    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns on stderr when XDG_RUNTIME_DIR is not set
        return Path(platformdirs.user_runtime_dir("dynascope", appauthor=False)) / f"listen-{port}.json"


def leave(program: ListeningProgram) -> Path:
    """Write the file of a program, readable by this user, and return its path.

    Raises RuntimeError where the folder is not this user's alone, and OSError.
    """
    path = token_file(program.port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise RuntimeError(
            f"{path.parent} is not a folder that only you can access, so the token cannot be stored there; "
            f"set {TOKEN_VARIABLE} here and in the debugger instead."
        )
    path.unlink(missing_ok=True)
    remove_abandoned(path.parent)
    content = encoded(msgspec.json.encode, program)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content + b"\n")
    return path


def read(port: int) -> ListeningProgram | None:
    """Return the program that listens on a port here; None if none has left a file and lives."""
    found = parsed(_texts([token_file(port)]))
    return found[0] if found and processes.exists(found[0].pid) else None


def remove(program: ListeningProgram) -> None:
    """Remove the file of a program, unless another program has taken its port."""
    if read(program.port) == program:
        token_file(program.port).unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the files of processes that have ended without removing theirs, as killed ones do."""
    for file in folder.glob("listen-*.json"):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            if not processes.exists(msgspec.json.decode(file.read_bytes(), type=ListeningProgram).pid):
                file.unlink()


def listening() -> list[ListeningProgram]:
    """Return the programs of this user that listen on this machine."""
    files = token_file(0).parent.glob("listen-*.json")
    return [each for each in parsed(_texts(files)) if processes.exists(each.pid)]


def parsed(texts: Iterable[bytes]) -> list[ListeningProgram]:
    """Return the programs that these texts describe, sorted by rank and port.

    A text that cannot be decoded is left out.
    """
    found = []
    for text in texts:
        with contextlib.suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(text, type=ListeningProgram))
    return sorted(found, key=lambda each: (sys.maxsize if each.rank is None else each.rank, each.port))


def _texts(files: Iterable[Path]) -> Iterable[bytes]:
    for file in files:
        with contextlib.suppress(OSError):
            yield file.read_bytes()
