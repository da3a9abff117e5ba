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


class Watched(types.ModuleType):
    """A module that counts how often it is looked at."""

    looks = 0

    def __getattribute__(self, name: str) -> object:
        if name == "__dict__":
            Watched.looks += 1
        return super().__getattribute__(name)


def test_modules_of_other_files_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compile looks for the modules of each file that has a breakpoint, and a program has thousands of modules."""
    monkeypatch.setitem(sys.modules, "dynascope_here", module("here", tmp_path / "here.py"))
    watched = Watched("watched")
    watched.__file__ = str(tmp_path / "watched.py")
    monkeypatch.setitem(sys.modules, "dynascope_watched", watched)
    Watched.looks = 0
    for _ in range(5):
        assert len(list(modules_of(str(tmp_path.resolve() / "here.py")))) == 1
    assert Watched.looks <= 1


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
