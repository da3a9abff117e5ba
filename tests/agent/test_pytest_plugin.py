"""The pytest plugin: which tests fail, what it says of them, and what a baseline lets pass."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.support.fork_server import search_path
from tests.support.marks import PROGRAMS
from tests.support.terminal.terminal import Terminal

pytestmark = pytest.mark.real_processes  # a test of the suite starts a program
PLUGIN = ["-p", "no:cacheprovider"]
if not entry_points(group="pytest11", name="dynascope"):  # an environment that was made before there was one
    PLUGIN += ["-p", "dynascope.pytest_plugin"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(PROGRAMS / "small_suite.py", tmp_path / "test_small.py")
    return tmp_path


def run(folder: Path, *options: str) -> tuple[dict[str, str], str]:
    """What becomes of each test, and what pytest prints."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DYNASCOPE", "PYTEST"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "--show-capture=no", "-rA", "-q", *options, "test_small.py"],
        cwd=folder,
        env={**inherited, "PYTHONPATH": search_path(), "DYNASCOPE_FACTS": str(folder / "facts")},
        capture_output=True,
        text=True,
        timeout=200,
    )
    rows = re.findall(
        r"^(PASSED|FAILED|ERROR) test_small\.py::(?:TestOfAClass::)?test_(\w+)", done.stdout, re.MULTILINE
    )
    return {name: outcome.lower() for outcome, name in rows}, done.stdout + done.stderr


BY_MARKS = {
    "breaks": "failed",
    "breaks_once": "passed",
    "compiled_before": "failed",
    "is_whole": "passed",
    "is_compiled_again": "failed",
    "unmarked": "passed",
    "asks_for_the_trace": "passed",
    "misspelt": "failed",
    "is_no_number": "failed",
    "has_the_marks_of_both": "failed",
    "starts_a_program": "failed",
    "starts_a_program_that_may_break": "passed",
    "fails_by_itself": "failed",
}


def test_marked_tests_fail_with_line_code_caller_and_remedy(suite: Path):
    found, told = run(suite)
    assert found == BY_MARKS, told
    failure = told.partition("test_breaks ___")[2].partition("___ test_")[0]
    for part in (
        "1 graph break",
        "❱ 15     torch._dynamo.graph_break()",
        "hint Remove",
        "called from test_small.py:26",
    ):
        assert part in failure, failure
    assert "_pytest" not in failure and "pytest_plugin.py" not in told
    assert (
        "Nothing was compiled: code that was compiled before" in told
        and "1 recompile" in told
        and "ValueError: its own" in told
    )
    assert "has no argument graph_brakes. It has: graph_breaks," in told


def test_torch_may_be_imported_first_within_a_test(suite: Path):
    """The process of the tests itself is not one of those that are started."""
    (suite / "test_small.py").write_text(
        "import pytest\n\n\n@pytest.mark.dynascope(compiles=1)\ndef test_imports_torch():\n    import torch\n"
        "    torch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
    )
    found, told = run(suite)
    assert found == {"imports_torch": "passed"}, told


@pytest.mark.matrix
def test_an_option_checks_all_tests_and_a_baseline_lets_known_problems_pass(suite: Path):
    found, told = run(suite, "--dynascope-fail-on", "graph-break")
    assert found == BY_MARKS | {"unmarked": "failed", "asks_for_the_trace": "failed"}, told
    found, told = run(suite, "--dynascope-baseline", "known.json", "--dynascope-update", "-n", "2")
    assert "Known in" in told, told
    (version,) = json.loads((suite / "known.json").read_text())["torch"].values()
    assert sorted(each["at"] for each in version.values()) == ["<string>:4", "test_small.py:15", "test_small.py:19"]
    run(suite, "--dynascope-baseline", "known.json", "--dynascope-update", "-k", "is_whole")
    found, told = run(suite, "--dynascope-baseline", "known.json", "--dynascope-fail-on", "graph-break")
    still = dict.fromkeys(("compiled_before", "misspelt", "is_no_number", "fails_by_itself"), "failed")
    assert found == dict.fromkeys(BY_MARKS, "passed") | still, told


@pytest.mark.matrix
def test_settings_are_read_and_errors_of_use_end_the_run(suite: Path):
    (suite / "pytest.ini").write_text("[pytest]\ndynascope_fail_on = graph-break\n")
    assert run(suite)[0]["unmarked"] == "failed"
    assert "There is no kind 'breaks'" in run(suite, "--dynascope-fail-on", "breaks")[1]
    assert "--dynascope-update needs --dynascope-baseline" in run(suite, "--dynascope-update")[1]
    assert "There is no baseline" in run(suite, "--dynascope-baseline", "none.json")[1]


@pytest.mark.matrix
def test_the_report_has_all_tests_of_all_workers(suite: Path):
    _, told = run(suite, "--dynascope-report", "-n", "2")
    assert "dynascope report" in told
    command = [sys.executable, "-m", "dynascope", "report", "--all", "--facts", str(suite / "facts")]
    report = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    assert "test_small.py:15" in report and "Recompile" in report
    assert report.startswith("-m pytest ")


@pytest.mark.matrix
def test_pdb_stops_at_a_prompt_while_the_test_is_traced(suite: Path):
    environment = {"PYTHONPATH": search_path(), "XDG_STATE_HOME": str(suite), "DYNASCOPE_FACTS": str(suite / "facts")}
    tests = ["test_small.py::test_is_whole", "test_small.py::test_breaks", "test_small.py::test_is_compiled_again"]
    terminal = Terminal([sys.executable, "-m", "pytest", "--pdb", *PLUGIN, *tests], environment, suite)
    try:
        assert "is_compiled_again" not in terminal.expect("● compile time")
        told = terminal.expect("(dynascope) ")
        assert "test_small.py:15  (exception)" in told and "graph break GB0025" in told
        terminal.type("print x\r")
        terminal.expect("f32[3]")
        terminal.type("continue\r")
        assert "1 graph break" in terminal.expect("(Pdb) ")
        terminal.type("continue\r")
        terminal.expect("● compile time")
        assert "recompile" in terminal.expect("(dynascope) ")
        terminal.type("quit\r")
        assert "1 recompile" in terminal.expect("(Pdb) ")
        terminal.type("continue\r")
        terminal.expect("2 failed, 1 passed")
        assert terminal.wait() == 1
    finally:
        terminal.close()


def test_it_does_nothing_in_a_run_that_does_not_ask():
    code = "import sys, dynascope.pytest_plugin; print(sorted({'torch', 'msgspec', 'rich', 'click'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
