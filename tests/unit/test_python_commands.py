"""What Python runs for a command of an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.wire.command_lines import module_or_script


def test_known_commands_are_modules() -> None:
    assert module_or_script("pytest") == ("pytest", None)
    assert module_or_script("torchrun") == ("torch.distributed.run", None)


@pytest.mark.parametrize(("first", "is_python"), [("#!/usr/bin/env python3", True), ("#!/bin/sh", False)])
def test_other_commands_are_scripts_for_python(
    first: str, is_python: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "trains"
    script.write_text(f"{first}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert module_or_script("trains") == (None, str(script) if is_python else None)
    assert module_or_script("missing") == (None, None)
