"""`dynascope.record()` counts what torch logs, in functions that were written without knowing how either counts."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

import torch

from tests.support.record_table import PAGE, Row, rows, with_table

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def counted() -> list[Row]:
    return rows()


def test_breaks_recompiles_and_graphs_are_those_that_torch_logs(counted: list[Row]):
    assert len(counted) > 100
    assert [each for each in counted if not each.is_right] == []


@pytest.mark.main_leg
@pytest.mark.skipif(
    not torch.__version__.startswith("2.13") or sys.version_info[:2] != (3, 11), reason="the table is of these"
)
def test_the_page_has_the_table(counted: list[Row]):
    text = PAGE.read_text()
    assert text == with_table(text, counted), "run python -m tests.support.record_table"
