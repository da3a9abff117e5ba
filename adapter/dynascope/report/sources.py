"""Open the facts that a command shows, and read the source around a fact's line, which may have changed since."""

from __future__ import annotations

import functools
import linecache
import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec import Struct

from dynascope.explain.compiles import CHANGED, MOVED
from dynascope.explain.problem import Place
from dynascope.facts import model, store
from dynascope.facts.alignment import Alignment
from dynascope.facts.file_names import given_name, name_files
from dynascope.facts.reader import Reader


@contextmanager
def opened(workspace: Path | None, folder: Path | None) -> Iterator[Reader]:
    """Open the facts in `folder`, or those of a workspace; None: of the current folder."""
    path = folder / store.FILE_NAME if folder is not None else store.facts_path(workspace)
    try:
        with Reader.open(path) as reader, reader.unchanging():
            name_files(reader.given_names().get)
            yield reader
    except store.StoreError as error:
        raise click.ClickException(str(error)) from None
    except sqlite3.DatabaseError as error:
        raise click.ClickException(f"{path} is damaged ({error}). Move it away or delete it.") from None


def chosen_launch(reader: Reader, asked: str | None) -> str:
    """Return the launch of this name, or the newest of this program; None asks for the newest."""
    launch = asked or reader.newest_launch()
    if launch is None:
        raise click.ClickException("No program is recorded here. Record one with: dynascope run PROGRAM")
    runs = reader.runs()  # the newest first
    found = next((run.launch for run in runs if run.launch == launch), None)
    found = found or next((run.launch for run in runs if launch in (run.program, run.program.split(" ")[0])), None)
    if found is None:
        raise click.ClickException(f"There is no launch {launch!r}. See: dynascope report --launches")
    return found


def options(launch: str | None, folder: Path | None) -> str:
    """Return the options with which another command shows the same launch."""
    chosen = [f" --launch {shlex.quote(launch)}"] if launch else []
    return "".join([*chosen, *([f" --facts {shlex.quote(str(folder))}"] if folder is not None else [])])


def is_at(place: Place, file: str, line: str) -> bool:
    """Whether a place is in a file that the user names, at a line; "" is any line."""
    is_file = place.path == os.path.abspath(file) or f"/{place.path}".replace(os.sep, "/").endswith(f"/{file}")
    is_file = is_file or given_name(place.path) == file
    return is_file and (not line or place.line == int(line))


CONTEXT = 2
"""The number of lines shown before and after."""


class CodeFrame(Struct):
    """The lines of a file around `line`, where the traced line `then` is now; `stale` if it has changed since."""

    path: str
    line: int
    then: int
    first_line: int
    lines: list[str]
    stale: bool

    @property
    def remark(self) -> str:
        """Return what is said of a line that has changed or moved since; "" of others."""
        return CHANGED if self.stale else MOVED.format(self.then) if self.line != self.then else ""


class Sources:
    """Read lines of files, each file once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._texts: dict[str, list[str]] = {}
        self._hashes_of = functools.cache(reader.line_hashes)

    def around(self, path: str, line: int, source: int, context: int = CONTEXT) -> CodeFrame | None:
        """Return the lines around a traced one; None when the file is not here, or has no such line."""
        text, then = self._text(path), line
        stale = self._is_stale(line, text, source)
        if stale and (now := self._now(line, text, source)) is not None:
            line, stale = now, False
        if not 1 <= line <= len(text):
            return None
        first = max(line - context, 1)
        return CodeFrame(path, line, then, first, text[first - 1 : line + context], stale)

    def line(self, path: str, line: int) -> str:
        """Return one line without its indentation; "" when there is none."""
        text = self._text(path)
        return text[line - 1].strip() if 1 <= line <= len(text) else ""

    def _text(self, path: str) -> list[str]:
        known = self._texts.get(path)
        if known is None:
            try:
                content = Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
            except OSError:
                # the cell of a notebook: its text is in this process, or in the store
                content = "".join(linecache.getlines(path)) or self._reader.text_of(path)
            known = self._texts[path] = content.split("\n")
        return known

    def _now(self, line: int, text: list[str], source: int) -> int | None:
        """Return where a traced line is now; None where it has changed or is gone."""
        return Alignment(self._hashes_of(source), model.hash_lines("\n".join(text))).now(line)

    def _is_stale(self, line: int, text: list[str], source: int) -> bool:
        hashes = self._hashes_of(source)
        if not 1 <= line <= len(text):
            return True
        return line > len(hashes) or hashes[line - 1] != model.hash_lines(text[line - 1])[0]


def shown_path(path: str) -> str:
    """Return a path relative to the current folder if inside, or to `site-packages`."""
    for marker in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        if marker in path:
            return path.rpartition(marker)[2]
    if name := given_name(path):
        return name
    relative = os.path.relpath(path) if path else "<no file>"
    return path if relative.startswith("..") else relative
