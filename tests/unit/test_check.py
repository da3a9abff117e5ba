"""`dynascope check` fails where a launch has more than allowed, and tells it as text, to GitHub, as SARIF and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from dynascope.cli import main
from dynascope.facts.store import FILE_NAME, FOLDER_NAME
from dynascope.facts.writer import Writer

from tests.support.facts import sample
from tests.support.sarif_schema import SARIF


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DYNASCOPE_FACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    sample.write_sample(tmp_path)
    return tmp_path


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def problems(*arguments: str) -> dict[str, Any]:
    return json.loads(check("--format", "json", *arguments).output)


def test_it_fails_on_breaks_recompiles_and_failures_and_names_their_lines(workspace: Path):
    checked = check()
    assert checked.exit_code == 1
    assert "layers.py:5 Graph break" in checked.output and "Recompiled because of" in checked.output
    assert re.search(r"^check failed: 2 graph breaks, 1 recompile, 1 failure$", checked.output, re.MULTILINE), (
        checked.output
    )


def test_only_kinds_that_are_named_fail_and_a_number_may_be_allowed(workspace: Path):
    assert check("--fail-on", "recompile-limit").exit_code == 0
    assert check("--max", "graph-break=2", "--max", "recompile=1").exit_code == 1
    assert check("--max", "graph-break=2", "--max", "recompile=1", "--max", "failure=1").exit_code == 0
    allowed = check("--fail-on", "recompile", "--max", "graph-break=1")
    assert allowed.exit_code == 1 and "check failed: 1 recompile, 2 graph breaks, 1 allowed" in allowed.output
    assert check("--fail-on", "recompile-limit", "--max", "compile=1").output.endswith("2 compiles, 1 allowed\n")
    for wrong in (
        ("--fail-on", "breaks"),
        ("--max", "recompile"),
        ("--max", "recompile=x"),
        ("--fail-on", ""),
        ("--update",),
    ):
        assert check(*wrong).exit_code == 2


def test_only_a_launch_that_there_is_and_that_compiled_can_pass(workspace: Path):
    assert "There is no launch 'other'" in check("--launch", "other").output
    Writer(workspace / FOLDER_NAME / FILE_NAME, sample.new_run(workspace, "launch 2", "quiet.py")).close()
    checked = check("--fail-on", "failure")
    assert (checked.exit_code, checked.output) == (1, "check failed: nothing was compiled in quiet.py\n")
    assert check("--launch", "launch 1", "--fail-on", "recompile-limit").exit_code == 0


def test_problems_of_the_baseline_pass_in_any_checkout(workspace: Path):
    missing = check("--baseline", "known.json")
    assert missing.exit_code == 2 and "--update writes it" in missing.output
    assert check("--baseline", "known.json", "--update").exit_code == 0
    passed = check("--baseline", "known.json")
    assert passed.exit_code == 0 and re.search(r"check passed \(\d known problems left out\)", passed.output)
    known = json.loads((workspace / "known.json").read_text())
    (version,) = known["torch"]
    ids = known["torch"][version]
    (workspace / "elsewhere").mkdir()
    other = sample.write_sample(workspace / "elsewhere").parent
    assert check("--baseline", "known.json", "--facts", str(other)).exit_code == 0
    removed = next(id for id in ids if id.startswith("GB"))
    del ids[removed]
    (workspace / "known.json").write_text(json.dumps(known))
    failed = check("--baseline", "known.json")
    assert failed.exit_code == 1 and removed in failed.output and "check failed: 2 graph breaks (" in failed.output


def test_a_baseline_of_another_torch_version_says_so_and_is_kept(workspace: Path):
    (workspace / "known.json").write_text('{"torch": {"1.0": {"GB1-0": {"title": "old", "at": "old.py:1"}}}}')
    checked = check("--baseline", "known.json")
    assert checked.exit_code == 1 and "has the problems of torch 1.0, not of" in checked.output
    check("--baseline", "known.json", "--update")
    assert json.loads((workspace / "known.json").read_text())["torch"].keys() > {"1.0"}
    (workspace / "known.json").write_text("[")
    damaged = check("--baseline", "known.json")
    assert damaged.exit_code == 2 and "is no baseline" in damaged.output


def test_known_problems_that_did_not_occur_are_told(workspace: Path):
    check("--baseline", "known.json", "--update")
    known = json.loads((workspace / "known.json").read_text())
    (rows,) = known["torch"].values()
    rows |= {f"GB{number}-0": {"title": f"Old {number}", "at": "old.py:1"} for number in range(5)}
    (workspace / "known.json").write_text(json.dumps(known))
    checked = check("--baseline", "known.json")
    assert checked.exit_code == 0
    told = "5 known problems did not occur: Old 0 (old.py:1), Old 1 (old.py:1), Old 2 (old.py:1), and 2 more. --update"
    assert told in checked.output
    assert len(json.loads(check("--baseline", "known.json", "--format", "json").output)["gone"]) == 5
    check("--baseline", "known.json", "--update")
    assert "did not occur" not in check("--baseline", "known.json").output


def test_github_annotates_lines(workspace: Path):
    lines = check("--format", "github", "--fail-on", "graph-break", "--max", "recompile=1").output.splitlines()
    errors = [each for each in lines if each.startswith("::error file=")]
    (broken,) = errors
    assert broken.startswith("::error file=layers.py,line=5,title=Graph break%3A ") and "%0Ahint: " in broken
    assert any(each.startswith("::warning file=") for each in lines)
    assert lines[-1] == "::error::check failed: 2 graph breaks"


def test_paths_are_those_of_the_checkout(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(workspace.parent))
    told = check("--format", "github").output
    assert f"::error file={workspace.name}/layers.py,line=5," in told


def test_sarif_follows_its_schema(workspace: Path):
    log = json.loads(check("--format", "sarif").output)
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    broken = next(each for each in run["results"] if each["ruleId"].startswith("GB"))
    at = broken["locations"][0]["physicalLocation"]
    assert at["artifactLocation"] == {"uri": "layers.py", "uriBaseId": "%SRCROOT%"} and at["region"]["startLine"] == 5
    assert broken["level"] == "error" and broken["partialFingerprints"]["dynascopeProblem/v1"].startswith("GB")


def test_json_has_the_verdict_and_the_launch(workspace: Path):
    told = problems("--fail-on", "graph-break")
    (exceeded,) = told["exceeded"]
    assert (told["passed"], exceeded["kind"], exceeded["count"], exceeded["allowed"]) == (False, "graph-break", 2, 0)
    assert exceeded["problems"][0] in {each["id"] for each in told["launch"]["problems"]}
