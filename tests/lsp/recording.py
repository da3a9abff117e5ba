"""Runs programs as users do: `dynascope run` in a folder, then `dynascope report` of what was recorded there."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 280


def program(folder: Path, name: str, source: str) -> Path:
    """Write a program into a folder; its path. The text may be indented."""
    path = folder.resolve() / name
    path.write_text(textwrap.dedent(source).lstrip("\n"))
    return path


def record(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Run `dynascope run` with these arguments, and return what the program printed."""
    return _dynascope(folder, "run", *arguments, fails=fails)


def report(folder: Path, *arguments: str, fails: bool = False) -> str:
    """What `dynascope report` says, without arguments `dynascope report --all`."""
    return _dynascope(folder, "report", *(arguments or ("--all",)), fails=fails)


def page(folder: Path) -> str:
    """The HTML page that `dynascope report` writes."""
    report(folder, "--html", "report.html")
    return (folder / "report.html").read_text()


def line_of(path: Path, text: str) -> int:
    """The number of the one line of a file that has a text."""
    (found,) = [number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return found


def _dynascope(folder: Path, *arguments: str, fails: bool) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DYNASCOPE_")}
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (run.returncode != 0) == fails, run.stdout + run.stderr
    return run.stdout + (run.stderr if fails else "")
