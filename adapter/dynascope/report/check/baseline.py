"""Read and write the problems that are known, and do not fail a check: a file to be kept with the code.

They are told apart by torch version, since a problem may be of one version alone, and by their ids, so that lines may
move. Titles are there for those who read the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field

from dynascope.explain.problem import Problem


class BaselineError(Exception):
    """The file cannot be used; the text is for the user."""


class KnownProblem(Struct):
    """A problem that is known."""

    title: str
    at: str
    """The file's name and the line at which it was when the baseline was written."""


class Baseline(Struct):
    """The known problems of each torch version (`2.13`), by id."""

    torch: dict[str, dict[str, KnownProblem]] = field(default_factory=dict)


def minor(torch_version: str) -> str:
    """Return `2.13` for `2.13.0+cpu`."""
    found = re.match(r"\d+\.\d+", torch_version)
    return found[0] if found is not None else torch_version


def read(path: Path) -> Baseline:
    """Return what a file says. Raises BaselineError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except FileNotFoundError:
        raise BaselineError(f"There is no baseline {path}. --update writes it.") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path} is no baseline of `dynascope check` ({error}).") from None


def known(problems: Iterable[Problem]) -> dict[str, KnownProblem]:
    """Return the rows of these problems."""
    return {
        each.id: KnownProblem(each.title, f"{os.path.basename(each.place.path)}:{each.place.line}") for each in problems
    }


def update(path: Path, torch_version: str, rows: Mapping[str, KnownProblem]) -> None:
    """Replace the rows of this torch version in a file. Raises BaselineError."""
    baseline = read(path) if path.exists() else Baseline()
    baseline.torch[minor(torch_version)] = dict(sorted(rows.items()))
    baseline.torch = dict(sorted(baseline.torch.items()))
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(baseline)) + b"\n")
    except OSError as error:
        raise BaselineError(f"Cannot write {path}: {error.strerror}.") from None
