"""`dynascope import` of logs that torch wrote: which processes they are of, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from dynascope.cli import main
from dynascope.facts.reader import Reader

_HEADER = "V0101 00:00:00.000000 4711 torch/_dynamo/utils.py:1] "


def log(path: Path, *fail_types: str | None) -> None:
    """Write a log with a compile for each of these, which is None for one that succeeds."""
    entries = []
    for frame, failure in enumerate(fail_types):
        metrics = {"co_name": "f", "co_filename": "/f.py", "co_firstlineno": 3, "start_time": 1.0, "guard_count": 1}
        metrics |= {"fail_type": failure, "fail_reason": "no"}
        entries.append({"compilation_metrics": metrics, "frame_id": frame, "frame_compile_id": 0, "attempt": 0})
    path.write_text("".join(f"{_HEADER}{json.dumps(entry)}\n" for entry in entries))


def imported(folder: Path) -> str:
    result = CliRunner().invoke(main, ["import", "--facts", str(folder / "facts"), str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_rank_of_a_process_is_in_the_name_of_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("rank_0_a1b2", "rank_11_c3d4", "e5f6_h"):
        log(tmp_path / f"dedicated_log_torch_trace_{name}.log", None)
    assert imported(tmp_path).startswith("3 compiles and 0 graph breaks of 3 processes are in ")
    with Reader.open(tmp_path / "facts" / "facts.db") as reader:
        assert sorted((run.rank is None, run.rank) for run in reader.runs()) == [(False, 0), (False, 11), (True, None)]
    monkeypatch.setenv("DYNASCOPE_FACTS", str(tmp_path / "facts"))
    assert "ranks 0, 11 and process 4711" in CliRunner().invoke(main, ["report"]).output


def test_one_is_said_to_be_one_and_what_was_given_up_is_no_compile(tmp_path: Path):
    log(tmp_path / "dedicated_log_torch_trace_a1b2.log", None, "SkipFrame")
    assert imported(tmp_path).startswith("1 compile and 0 graph breaks of 1 process are in ")
