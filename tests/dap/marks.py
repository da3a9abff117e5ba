"""Line numbers of programs under test, by the comment that ends the line."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


def program(name: str) -> Path:
    return PROGRAMS / name


def line(path: Path, mark: str) -> int:
    """The line that ends with `# mark`."""
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.endswith(f"# {mark}"):
            return number
    raise LookupError(f"{path} has no line marked {mark!r}")
