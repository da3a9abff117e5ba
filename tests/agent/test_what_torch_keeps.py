"""docs/what-torch-keeps.md holds: it names all that these files of torch's have, and each row is there at its stop."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.support.what_torch_keeps import page, stops
from tests.support.what_torch_keeps.names import names_of

pytestmark = pytest.mark.second_leg

FILES = page.files()
INSTALLED = {file: names_of(Path(torch.__file__).parents[1] / file) for file in FILES}


@pytest.mark.parametrize("file", FILES)
def test_every_name_of_the_installed_torch_is_on_the_page(file: str) -> None:
    new = INSTALLED[file] - {*FILES[file].names}
    assert not new, f"torch {torch.__version__} has what {page.PAGE.name} says nothing of: {sorted(new)}"


@pytest.mark.parametrize("file", FILES)
def test_no_name_is_there_twice(file: str) -> None:
    names = FILES[file].names
    assert not {name for name in names if names.count(name) > 1}


@pytest.mark.parametrize("stop", stops.STOPS)
def test_the_rows_are_there_with_their_values(stop: str) -> None:
    wanted = [
        shown
        for file, told in FILES.items()
        for shown in told.shown.get(stop, ())
        if INSTALLED[file] & {*shown.names}  # what this torch does not have yet, or no more, has no row
    ]
    wrong: list[str] = []

    def inspect_stop(names: stops.Names) -> None:
        for shown in wanted:
            try:
                found = names.find(shown.path)
            except LookupError as missing:
                wrong.append(f"{shown.names}: {missing}")
            else:
                if not stops.pattern(shown.text).fullmatch(found):
                    wrong.append(f"{shown.names}: {shown.path} says {found!r}, not {shown.text!r}")

    stops.STOPS[stop](inspect_stop)
    assert wanted
    assert not wrong, "\n".join(wrong)


def test_every_stop_of_the_page_is_one() -> None:
    assert {stop for told in FILES.values() for stop in told.shown} == set(stops.STOPS)
