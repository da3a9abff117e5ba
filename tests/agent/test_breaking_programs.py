"""What programs with graph breaks state of themselves is what plain torch does with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import breaking_programs as programs
from tests.support.edited_programs import same_output
from tests.support.plain_torch import Kept

SUPPORT = Path(programs.__file__).parent
MEASURED_BY = [SUPPORT / f"{name}.py" for name in ("edited_programs", "breaking_programs", "watched_breaks")]

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg, pytest.mark.real_processes]


@pytest.fixture(scope="module")
def server() -> Iterator[programs.Server]:
    with programs.Server() as server:
        yield server


@pytest.mark.parametrize("program", programs.programs(), ids=lambda path: path.stem)
def test_breaks_are_as_stated(server: programs.Server, program: Path, cache: pytest.Cache):
    stated = programs.stated(program)
    kept = Kept(cache, programs.Measured, [program, *sorted(program.parent.glob("_helper_*.py")), *MEASURED_BY])
    plain, *others = found = kept.get(lambda: server.measured(program, stated.remedies))
    assert not plain.failed, plain.failed
    assert (plain.breaks, plain.compiles) == (stated.breaks, stated.compiles), plain.reasons
    for remedy, other in zip(stated.remedies, others, strict=True):
        assert not other.failed, f"{remedy.text}\n{other.failed}"
        assert other.compiles, f"{remedy.text}: nothing is compiled any more"
        assert other.breaks == remedy.breaks, f"{remedy.text}\n{other.reasons}"
        assert same_output(plain.printed, other.printed, remedy.silent), f"{remedy.text}\n{other.printed}"
    kept.keep(found)
