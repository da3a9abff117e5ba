"""Broken, replaced and busy stores: the server answers, shows what can be read, and says what cannot be."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dynascope.facts.schema import VERSION
from dynascope.facts.store import FILE_NAME, FOLDER_NAME

from tests.support.facts import sample
from tests.support.fork_server import search_path
from tests.support.lsp.client import LspClient
from tests.support.marks import ROOT

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
INTERNAL_ERROR = -32603
MOST_ROWS = 12
"""The most rows beside one another that are opened: a writer makes thousands."""


class Looking:
    """A server with one workspace folder, which is asked for everything."""

    may_be_anything = False
    """Whether facts may be changed within what SQLite and we check: an error of ours is logged then."""

    def __init__(self, client: LspClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.store = folder / FOLDER_NAME / FILE_NAME
        client.start(folder, capabilities={"experimental": {"factsChanged": True}})
        self.uris = [(folder / name).as_uri() for name in ("model.py", "layers.py")]

    def look(self) -> int:
        """Ask for everything that is made of facts; return how much was found."""
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": self.store.as_uri(), "type": 2}]})
        found = 0
        for uri in self.uris:
            document = {"textDocument": {"uri": uri}}
            for method, params in (
                ("textDocument/inlayHint", document | {"range": WHOLE}),
                ("textDocument/codeLens", document),
                ("textDocument/documentSymbol", document),
                ("textDocument/hover", document | {"position": {"line": 12, "character": 10}}),
                ("textDocument/codeAction", document | {"range": WHOLE, "context": {"diagnostics": []}}),
                ("workspace/executeCommand", {"command": "dynascope.lineTimes", "arguments": [{"uri": uri}]}),
                ("textDocument/diagnostic", document),
                ("workspace/symbol", {"query": "f"}),
            ):
                found += self._count(method, params)
        for row in self._asked("dynascope/rows", {}) or []:
            key = row["key"]
            found += self._below([key], 3)
            for method in ("timeline", "chromeTrace", "runsOfProgram"):
                self._asked(f"dynascope/{method}", {"key": key})
        return found

    def _below(self, keys: list[str], depth: int) -> int:
        rows = self._asked("dynascope/rows", {"keys": keys}) or []
        for row in rows[:MOST_ROWS]:
            if "document" in row:
                for method in ("document", "graph"):
                    self._asked(f"dynascope/{method}", {"key": keys[0], "document": row["document"]["id"]})
        lazy = [row for row in rows[:MOST_ROWS] if row.get("isLazy")] if depth else []
        return len(rows) + sum(self._below([*keys, row["key"]], depth - 1) for row in lazy)

    def _count(self, method: str, params: Any) -> int:
        result = self._asked(method, params)
        return len(result) if isinstance(result, list | dict) else 0

    def _asked(self, method: str, params: Any) -> Any:
        answer = self.client.request(method, params)
        assert answer.get("error", {}).get("code") != INTERNAL_ERROR, (method, params, answer)
        assert self.may_be_anything or "Traceback" not in self.client.stderr, self.client.stderr[-3000:]
        return answer.get("result")


def said_of(looking: Looking) -> list[str]:
    return [each for each in looking.client.messages() if FOLDER_NAME in each]


def put(store: Path, content: bytes) -> None:
    """Replace a store, as whoever copies another one over it."""
    for name in (store.name, f"{store.name}-wal", f"{store.name}-shm"):
        path = store.with_name(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    store.write_bytes(content)


def content(store: Path) -> bytes:
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return store.read_bytes()


def check_each(folder: Path, broken: Callable[[bytes], list[bytes]], may_be_anything: bool = False) -> None:
    """Show stores that are made of a whole one, one after another."""
    sample.write_sample(folder)
    with LspClient(cwd=folder) as client:
        looking = Looking(client, folder)
        looking.may_be_anything = may_be_anything
        good = content(looking.store)
        whole = looking.look()
        assert whole > 50
        for each in broken(good):
            put(looking.store, each)
            looking.look()
        put(looking.store, good)
        assert looking.look() == whole
        assert "Move it away or delete it" in " ".join(said_of(looking))
        assert looking.client.end()[0] == 0


def flipped(whole: bytes, chance: random.Random, count: int) -> bytes:
    changed = bytearray(whole)
    for _ in range(count):
        place = chance.randrange(len(changed))
        changed[place] ^= 1 << chance.randrange(8)
    return bytes(changed)


def test_stores_that_are_cut_off_or_damaged(tmp_path: Path):
    chance = random.Random(7)

    def broken(whole: bytes) -> list[bytes]:
        cut = [whole[: chance.randrange(len(whole))] for _ in range(3)]
        return [b"", b"x" * 5000, *cut, *(flipped(whole, chance, 40) for _ in range(3))]

    check_each(tmp_path, broken)


@pytest.mark.matrix
@pytest.mark.timeout(3000)
def test_a_store_cut_off_anywhere(tmp_path: Path):
    def broken(whole: bytes) -> list[bytes]:
        places = {*range(600), *range(0, len(whole), 509), *range(0, len(whole), 4096)}
        return [whole[:place] for place in sorted(places)]

    check_each(tmp_path, broken)


@pytest.mark.matrix
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seed", range(4))
def test_stores_with_changed_bits(tmp_path: Path, seed: int):
    chance = random.Random(seed)

    def broken(whole: bytes) -> list[bytes]:
        return [flipped(whole, chance, chance.choice([1, 3, 30, 300])) for _ in range(100)]

    check_each(tmp_path, broken, may_be_anything=True)


def of_version(version: int) -> Callable[[Path], None]:
    def change(store: Path) -> None:
        with sqlite3.connect(store) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()

    return change


def replaced(by: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(store: Path) -> None:
        put(store, b"")
        store.unlink()
        by(store)

    return change


def without_table(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("DROP TABLE tensor")
    connection.close()


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder in its place": (replaced(Path.mkdir), "is a folder"),
    "a link to itself": (replaced(lambda store: store.symlink_to(store)), "link"),
    "a link to nothing": (replaced(lambda store: store.symlink_to("nosuch")), ""),
    "a pipe": (replaced(os.mkfifo), "not a file"),
    "empty": (replaced(Path.touch), "is not a store"),
    "of another version": (of_version(VERSION + 5), "another Dynascope"),
    "without a table": (without_table, "cannot be read"),
    "gone": (replaced(lambda store: None), ""),
}


@pytest.mark.parametrize("what", STRANGE)
def test_stores_that_are_something_else(tmp_path: Path, what: str):
    change, said = STRANGE[what]
    good, bad = tmp_path / "good", tmp_path / "bad"
    for each in (good, bad):
        each.mkdir()
        sample.write_sample(each)
    change(bad / FOLDER_NAME / FILE_NAME)
    with LspClient(cwd=tmp_path) as client:
        client.start(good, bad)
        looking = Looking.__new__(Looking)
        looking.client, looking.folder = client, bad
        looking.store = bad / FOLDER_NAME / FILE_NAME
        looking.uris = [(each / "model.py").as_uri() for each in (good, bad)]
        assert looking.look() > 50  # what the other folder has
        messages = said_of(looking)
        assert len(messages) == bool(said), messages
        assert not said or (said in messages[0] and str(looking.store) in messages[0]), messages
        put(looking.store, content(good / FOLDER_NAME / FILE_NAME))
        looking.look()
        assert len(said_of(looking)) == bool(said)
        assert client.end()[0] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_store_that_may_not_be_read(tmp_path: Path):
    sample.write_sample(tmp_path)
    store = tmp_path / FOLDER_NAME / FILE_NAME
    store.chmod(0)
    with LspClient(cwd=tmp_path) as client:
        looking = Looking(client, tmp_path)
        looking.look()
        (message,) = said_of(looking)
        assert str(store) in message


WRITER = """
import sys
from pathlib import Path
from tests.support.facts import sample
from dynascope.facts.writer import Writer
folder = Path(sys.argv[1])
writer = Writer(folder / ".dynascope" / "facts.db", sample.new_run(folder, sys.argv[2]))
facts = sample.first_compile(str(folder / "model.py"), str(folder / "layers.py"))
for _ in range(1000):
    print(writer.write(facts), flush=True)
"""


def check_meanwhile(folder: Path, rounds: int, seed: int) -> None:
    """Look while programs record, are killed, and the store is deleted or replaced beneath the server."""
    chance = random.Random(seed)
    sample.write_sample(folder)
    store = folder / FOLDER_NAME / FILE_NAME
    good = content(store)
    environment = {**os.environ, "PYTHONPATH": f"{search_path()}{os.pathsep}{ROOT}"}
    with LspClient(cwd=folder) as client:
        looking = Looking(client, folder)
        for number in range(rounds):
            command = [sys.executable, "-c", WRITER, str(folder), f"launch of round {number}"]
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as writer:
                try:
                    assert writer.stdout is not None
                    for _ in range(chance.randrange(1, 30)):
                        writer.stdout.readline()
                    assert looking.look()
                    match chance.randrange(3):
                        case 0:
                            shutil.rmtree(store.parent)
                        case 1:
                            put(store, good)
                    looking.look()
                finally:
                    writer.send_signal(signal.SIGKILL)
            looking.look()
            if not store.exists():
                sample.write_sample(folder)
        assert client.end()[0] == 0


@pytest.mark.matrix
def test_a_store_that_is_written_and_replaced_meanwhile(tmp_path: Path):
    check_meanwhile(tmp_path, 2, seed=1)


@pytest.mark.matrix
@pytest.mark.timeout(1800)
def test_stores_that_are_written_and_replaced_many_times(tmp_path: Path):
    check_meanwhile(tmp_path, 12, seed=2)


@pytest.mark.matrix
@pytest.mark.timeout(1800)
def test_a_server_that_is_killed_leaves_the_store_whole(tmp_path: Path):
    chance = random.Random(4)
    sample.write_sample(tmp_path)
    store = tmp_path / FOLDER_NAME / FILE_NAME
    for number in range(20):
        with LspClient(cwd=tmp_path) as client:
            looking = Looking(client, tmp_path)
            for _ in range(chance.randrange(12)):
                client.send("textDocument/documentSymbol", {"textDocument": {"uri": looking.uris[0]}})
            sample.write_sample(tmp_path, f"launch {number}")
            client.process.send_signal(signal.SIGKILL)
        with sqlite3.connect(store) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
