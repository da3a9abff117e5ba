"""The language server in real editors, headless: what they show of a recorded run, and a fix applied.

Needs `nvim` (0.7 or newer) and `emacs` with eglot (Emacs 29, or Debian's elpa-eglot); one that is not there is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import sample

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DEBIAN = Path("/usr/share/emacs/site-lisp/debian-startup.el")
"""Where Debian's Emacs finds its packages, eglot before Emacs 29 among them; `--batch` alone does not look."""
COMMANDS = {
    "nvim": ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"],
    "emacs": ["emacs", "--batch", *(["-l", str(DEBIAN)] if DEBIAN.exists() else []), "-l", str(HERE / "emacs.el")],
}
TITLE = "Stop here while Dynamo traces: insert comptime.breakpoint()"


def seen_in(editor: str, folder: Path, line: int, character: int) -> dict[str, Any]:
    if shutil.which(editor) is None:
        pytest.skip(f"{editor} is not installed")
    result = folder / "result.json"
    environment = {
        **os.environ,
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "adapter"), str(ROOT / "lsp")]),
        "DYNASCOPE_PYTHON": sys.executable,
        "DYNASCOPE_FILE": str(folder / "layers.py"),
        "DYNASCOPE_RESULT": str(result),
        "DYNASCOPE_LINE": str(line),
        "DYNASCOPE_CHARACTER": str(character),
        "DYNASCOPE_ACTION": TITLE,
    }
    done = subprocess.run(
        COMMANDS[editor], env=environment, cwd=folder, capture_output=True, text=True, timeout=180, check=False
    )
    assert result.exists(), done.stderr[-2000:]
    seen: dict[str, Any] = json.loads(result.read_text())
    assert "problem" not in seen, seen["problem"]
    return seen


@pytest.mark.parametrize("editor", COMMANDS)
def test_shows_what_was_recorded_and_applies_a_fix(editor: str, tmp_path: Path):
    sample.write_sample(tmp_path)
    (tmp_path / "layers.py").write_text(sample.LAYERS)
    seen = seen_in(editor, tmp_path, 7, 8)
    broken = [each for each in seen["diagnostics"] if each["line"] == 5]
    assert any("Data-dependent branching" in each["message"] for each in broken), seen["diagnostics"]
    assert "comptime" in seen["text"]
    again = seen_in(editor, tmp_path, 6, 8)
    assert "f32[8, 16]" in again["hover"]


@pytest.mark.parametrize("editor", COMMANDS)
def test_shows_predictions(editor: str, tmp_path: Path):
    program = "import torch\n\n\n@torch.compile\ndef f(x):\n    y = x + 1\n    n = x.max().item()\n    return y * n\n"
    (tmp_path / "layers.py").write_text(program)
    seen = seen_in(editor, tmp_path, 7, 14)
    assert [each["line"] for each in seen["diagnostics"]] == [7]
    assert "Graph break expected" in seen["hover"]
    assert "    comptime.breakpoint()\n    n = x.max().item()\n" in seen["text"]
