"""The table at the end of `make test-cuda`: rows come from pytest's workers, and one line says both settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.backward import gpu_table

ROOT = Path(__file__).parents[2]
TEST = """
import pytest

@pytest.mark.parametrize("cudagraphs", [False, True])
def test_a_backward(cudagraphs, record_property):
    row = {"backward": "mlp", "graph": "as captured", "cudagraphs": cudagraphs, "nodes": 11, "inputs": "9 on cuda:0"}
    row |= {"moved": "1 (4 bytes)" if cudagraphs else "0", "ms": 0.25, "difference": 3e-8 if cudagraphs else 0.0}
    record_property("gpu_row", row)
    record_property("gpu_hardware", "a GPU")
"""


@pytest.mark.matrix
def test_the_table_is_printed_where_the_reports_of_the_workers_come_together(tmp_path: Path):
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary\n")
    (tmp_path / "test_rows.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--rootdir", str(tmp_path), str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "On a GPU:" in ran.stdout
    row = "| mlp | as captured | 11 | 9 on cuda:0 | 0 / 1 (4 bytes) | 0.25 / 0.25 | eager's within 3e-08 |"
    assert row in ran.stdout


def test_a_backward_with_one_setting_and_no_time():
    row: dict[str, Any] = {"backward": "two streams", "graph": "as captured", "cudagraphs": False, "nodes": 6}
    row |= {"inputs": "2 on cpu, 2 on cuda:0", "moved": "0", "ms": None, "difference": 0.0}
    report = SimpleNamespace(user_properties=[("gpu_row", row), ("gpu_hardware", "a GPU")])
    assert gpu_table.lines([report])[-1] == (
        "| two streams | as captured | 6 | 2 on cpu, 2 on cuda:0 | 0 / – | – / – | eager's, bit for bit |"
    )
    assert gpu_table.lines([]) == []


def test_sessions_are_listed_below_the_table_and_those_on_the_cpu_are_not():
    kept: list[tuple[str, object]] = []
    table = gpu_table.Table(lambda name, value: kept.append((name, value)))
    table.add_session("cpu", "a rehearsal")
    assert kept == []
    reports = [SimpleNamespace(user_properties=[("gpu_session", text), ("gpu_hardware", "a GPU")]) for text in "ba"]
    assert gpu_table.lines(reports) == ["", "On a GPU:", "", "- a", "- b"]
