"""Launch configurations that several tests of the adapter use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.marks import program

COMPILED = program("compiled.py")


def launch(path: Path = COMPILED, **more: Any) -> dict[str, Any]:
    return {"program": str(path), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more
