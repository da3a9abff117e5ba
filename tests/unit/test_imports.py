"""What the agent does when the program imports a module."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

import pytest
from dynascope.agent.program.import_hooks import when_imported

NAME = "imported_by_the_program"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{NAME}.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def test_it_happens_once_the_module_is_complete() -> None:
    seen = []
    when_imported(NAME, lambda: seen.append(sys.modules[NAME].value))
    importlib.import_module(NAME)
    when_imported(NAME, lambda: seen.append("at once"))
    assert seen == [1, "at once"]


def test_several_may_wait_for_the_same_module() -> None:
    seen: list[str] = []
    when_imported(NAME, lambda: seen.append("first"))
    when_imported(NAME, lambda: seen.append("second"))
    importlib.import_module(NAME)
    assert sorted(seen) == ["first", "second"]


def test_it_does_not_happen_once_it_is_not_wanted() -> None:
    when_imported(NAME, lambda: pytest.fail("it was not wanted"))()
    importlib.import_module(NAME)


def test_an_error_of_ours_does_not_fail_the_import(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ImportError("there is no such module of ours")

    when_imported(NAME, fail)
    assert importlib.import_module(NAME).value == 1
    assert "ImportError: there is no such module of ours" in capsys.readouterr().err


def test_an_import_that_fails_has_the_traceback_of_a_plain_run(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.py").write_text("raise ValueError('no')\n")
    plain = traceback_of_import()
    for _ in range(2):
        when_imported(NAME, lambda: pytest.fail("it was not imported"))
    assert traceback_of_import() == plain


def traceback_of_import() -> list[tuple[str, int | None]]:
    with pytest.raises(ValueError) as raised:
        importlib.import_module(NAME)
    return [(frame.filename, frame.lineno) for frame in traceback.extract_tb(raised.value.__traceback__)]
