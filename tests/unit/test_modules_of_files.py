"""The modules of a file are found by an index of names, which keeps no module and misses none that is replaced."""

from __future__ import annotations

import sys
import types
import weakref
from pathlib import Path

import pytest
from dynascope.agent.program.functions import modules_of


def module(name: str, file: Path) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__file__ = str(file)
    return made


def test_modules_that_come_go_and_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, other = (str(tmp_path.resolve() / name) for name in ("here.py", "other.py"))
    assert list(modules_of(here)) == []
    first = module("first", tmp_path / "here.py")
    monkeypatch.setitem(sys.modules, "dynascope_first", first)
    assert list(modules_of(here)) == [first]
    second = module("second", tmp_path / "other.py")
    monkeypatch.setitem(sys.modules, "dynascope_first", second)  # as many modules as before
    assert (list(modules_of(here)), list(modules_of(other))) == ([], [second])
    reference = weakref.ref(second)
    monkeypatch.delitem(sys.modules, "dynascope_first")
    monkeypatch.undo()
    del second
    assert (list(modules_of(other)), reference()) == ([], None)
