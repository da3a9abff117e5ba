"""The structs of DAP's types are what the generator makes of the protocol's schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dap import structs


@pytest.mark.parametrize("path", [structs.EXCHANGED, structs.READ], ids=lambda path: path.stem)
def test_the_structs_are_made_from_the_schema(path: Path):
    assert path.read_text() == structs.module(path), "run `make dap-structs`"
