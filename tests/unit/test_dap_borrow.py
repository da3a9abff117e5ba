"""The text that runs in the program's interpreter, run in this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dynascope.dap.program import injected_source


def test_what_is_there_is_not_borrowed() -> None:
    before = list(sys.meta_path)
    assert injected_source.import_or_borrow({"json": "/nowhere"}, "another", "dynascope") == ""
    assert sys.meta_path == before


def test_another_python_gets_a_sentence_with_the_command_that_helps() -> None:
    why = injected_source.import_or_borrow({"no_such_package": "/nowhere"}, "cpython-27", "dynascope==1.2")
    assert "no_such_package" in why and "cpython-27" in why
    assert why.endswith(f"{sys.executable} -m pip install dynascope==1.2")


def test_only_the_packages_named_are_borrowed(tmp_path: Path) -> None:
    for name in ("lent_package", "private_package"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    try:
        folders, tag = {"lent_package": str(tmp_path)}, sys.implementation.cache_tag or ""
        assert injected_source.import_or_borrow(folders, tag, "x") == ""
        __import__("lent_package")
        with pytest.raises(ImportError):
            __import__("private_package")
    finally:
        sys.meta_path.pop()


def test_the_injection_is_an_expression_that_says_what_went_wrong(tmp_path: Path) -> None:
    expression = injected_source.injection(f"unix:{tmp_path / 'nobody'}", "0" * 64)
    done = subprocess.run([sys.executable, "-c", f"print({expression})"], capture_output=True, text=True, check=True)
    assert "FileNotFoundError" in done.stdout
