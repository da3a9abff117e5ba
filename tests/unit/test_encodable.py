"""Texts of a program that are no Unicode: an argument, a path or a reason is stored, sent and shown all the same."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from dynascope.encodable import encodable
from dynascope.facts.writer import Writer
from dynascope.wire.channel import encode
from dynascope.wire.from_agent import ConsoleOutput

from tests.support.facts.sample import first_compile, new_run

BYTES = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (BYTES, r"caf\xe9"),
        ("\ud800x", r"\ud800x"),
        (f"{BYTES}\ud800", r"caf\udce9\ud800"),
        ("café 𝔸", "café 𝔸"),
        ({BYTES: [(BYTES, 1, None)]}, {r"caf\xe9": [(r"caf\xe9", 1, None)]}),
    ],
)
def test_it_is_shown_as_python_shows_bytes(text: object, shown: object) -> None:
    assert encodable(text) == shown


def test_a_message_is_sent() -> None:
    assert rb"a caf\\xe9\n" in encode(ConsoleOutput(category="console", output=f"a {BYTES}\n"))


def test_a_compile_is_stored(tmp_path: Path) -> None:
    facts = first_compile(f"/{BYTES}.py", "/layers.py")
    facts.compile.function = BYTES
    facts.graph_breaks[0].reason = BYTES
    path = tmp_path / "facts.sqlite"
    writer = Writer(path, new_run(tmp_path, program=f"train.py {BYTES}"))
    writer.write(facts)
    writer.close()
    with sqlite3.connect(path) as connection:
        texts = {row[0] for row in connection.execute("SELECT value FROM string")}
        assert r"caf\xe9" in texts
        assert connection.execute("SELECT program FROM run").fetchall() == [(r"train.py caf\xe9",)]
        assert (r"/caf\xe9.py",) in connection.execute("SELECT path FROM source").fetchall()
