"""A recorded run holds what Dynamo decided: each break where it happened, and an imported TORCH_TRACE says the same."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.compile.call import arguments_of
from dynascope.agent.recorder.ending import shortened
from dynascope.explain.compiles import told
from dynascope.facts import model
from dynascope.facts.generated.recorded import graphs
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME
from dynascope.recording.importing import import_log
from dynascope.recording.torch_trace import logs_in

from tests.support.marks import PROGRAMS, labels

ROOT = Path(__file__).parents[2]
RECORDED = PROGRAMS / "recorded"


@dataclass
class Recorded:
    """What a run left behind, and what Dynamo counted in it."""

    store: Path
    imported: Path
    counted: collections.Counter[str]

    def facts(self, kind: str, of: Path | None = None) -> list:
        with Reader.open(of or self.store) as reader:
            return reader.facts(kind, str(reader.newest_launch()))

    def compiles(self, of: Path | None = None) -> list[model.Compile]:
        with Reader.open(of or self.store) as reader:
            return reader.compiles(reader.newest_launch())


def record(folder: Path, *program: str, **environment: str) -> Recorded:
    """Run a program recorded and under TORCH_TRACE, and import that."""
    trace, facts = folder / "trace", folder / "facts"
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", "run", *program],
        env={
            **os.environ,
            "TORCH_TRACE": str(trace),
            "DYNASCOPE_FACTS": str(facts),
            **environment,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert run.returncode == 0, run.stderr
    assert "dynascope:" not in run.stderr, run.stderr
    imported = folder / "imported" / FILE_NAME
    for log in logs_in(trace):
        import_log(log, imported, "import")
    counted = run.stdout.rpartition("COUNTED ")[2]
    return Recorded(facts / FILE_NAME, imported, collections.Counter(json.loads(counted) if counted.strip() else {}))


def place(fact: model.GraphBreak) -> tuple[object, ...]:
    return fact.path, fact.line, fact.type, fact.effect, fact.counted, fact.reason


def assert_breaks_agree(recorded: Recorded) -> list[model.GraphBreak]:
    breaks: list[model.GraphBreak] = recorded.facts("graph_breaks")
    counted: collections.Counter[str] = collections.Counter()
    for fact in breaks:
        counted[fact.reason] += fact.counted
        assert fact.stack and (fact.stack[-1].path, fact.stack[-1].line) == (fact.path, fact.line)
    assert +counted == recorded.counted
    imported = recorded.facts("graph_breaks", recorded.imported)
    assert collections.Counter(map(place, breaks)) == collections.Counter(map(place, imported))
    return breaks


@pytest.fixture(scope="module")
def breaking(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("breaks"), str(RECORDED / "breaks.py"))


@pytest.fixture(scope="module")
def deciding(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("decisions"), str(RECORDED / "decisions.py"))


def test_every_break_is_there_at_its_line_and_none_is_invented(breaking: Recorded):
    breaks = assert_breaks_agree(breaking)
    expected = collections.Counter()
    for number, line in enumerate((RECORDED / "breaks.py").read_text().splitlines(), 1):
        _, marked, text = line.partition("# break: ")
        if marked:
            effect, _, times = text.partition(", ")
            expected[number, effect] = 2 if times == "twice" else 1
    assert collections.Counter((fact.line, fact.effect) for fact in breaks) == expected


def test_a_break_has_its_parts_and_its_whole_stack(breaking: Recorded):
    fact = next(each for each in breaking.facts("graph_breaks") if each.function == "helper")
    assert fact.registry_id is not None and fact.registry_id.startswith("GB")
    assert fact.explanation and fact.hints and fact.context
    assert [frame.function for frame in fact.stack][-3:] == ["<module>", "calls_helper", "helper"]
    assert not [frame for frame in fact.stack if "dynascope" in frame.path and "tests" not in frame.path]


def test_compiles_say_what_they_continue(breaking: Recorded):
    resumed = [each for each in breaking.compiles() if each.resumes_at is not None]
    assert {each.function for each in resumed} == {"calls_helper", "helper", "branches"}
    first_lines = {each.function: each.line for each in breaking.compiles() if each.resumes_at is None}
    assert all(each.line == first_lines[each.function] for each in resumed)
    for store in (breaking.store, breaking.imported):
        statuses = {each.function: each.status for each in breaking.compiles(store)}
        assert statuses["in_a_loop"] == statuses["in_a_try"] == "skipped"
        assert statuses["whole"] == statuses["raising_in_a_part"] == "failed"


def test_shapes_on_the_lines_that_assign_them(deciding: Recorded):
    tensors = {(fact.name, fact.value, fact.role) for fact in deciding.facts("tensors")}
    assert ("x", "f32[4, 2]", "parameter") in tensors
    assert ("y", "f32[4, 2]", "assigned") in tensors
    symbol = next(fact for fact in deciding.facts("symbols") if fact.origins == ["L['x'].size()[0]"])
    assert ("y", f"f32[{symbol.name}, 2]", "assigned") in tensors
    assert ("rows", symbol.name, "assigned") in tensors
    assert symbol.hint is not None


def test_an_imported_log_has_the_recompiles_and_the_version_of_torch(deciding: Recorded):
    def failed(of: Path | None = None) -> list[tuple[str, str, str]]:
        return [(each.function, each.failed_compile_id, each.guard) for each in deciding.facts("recompiles", of)]

    assert failed() and failed(deciding.imported) == failed()
    with Reader.open(deciding.imported) as reader:
        logged = hasattr(torch._logging._internal, "_log_torch_version")
        assert {run.torch_version for run in reader.runs()} == {torch.__version__ if logged else "unknown"}


def test_recompiles_name_the_guard_and_the_value(deciding: Recorded):
    recompiles = [fact for fact in deciding.facts("recompiles") if fact.function == "scaled"]
    assert [(fact.failed_compile_id, fact.value) for fact in recompiles[:1]] == [("0/0", "x: f32[5, 2]")]
    assert "size mismatch at index 0" in recompiles[0].guard
    assert (recompiles[0].guard_path, recompiles[0].guard_line) == (recompiles[0].path, 7)  # which torch does not tell
    assert any(fact.value == "n: 3" and fact.guard_line == 7 for fact in recompiles), recompiles
    assert any(fact.limit_reached for fact in deciding.facts("recompiles") if fact.function == "limited")


def test_an_argument_that_tells_nothing_of_itself_is_told_by_its_type():
    """A compile is recorded although an argument of the call refuses even its shape."""

    class Hostile(torch.Tensor):
        @property
        def shape(self) -> torch.Size:  # type: ignore[override]
            raise RuntimeError("no shape")

    def function(x: object, /, number: int, *, name: str) -> None: ...

    values = {"x": torch.ones(2).as_subclass(Hostile), "number": 3, "name": "n", "___stack0": 1, "local": 2}
    assert arguments_of(function.__code__, values) == [("x", Hostile.__qualname__), ("number", "3"), ("name", "'n'")]


def test_a_recompile_that_is_an_error_is_told(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import contextlib\nimport torch\n\ntorch._dynamo.config.error_on_recompile = True\n"
        "f = torch.compile(lambda x, s: x + len(s), backend='eager')\n"
        "for s in ('a', 'ab'):\n    with contextlib.suppress(Exception):\n        f(torch.ones(2), s)\n"
    )
    recorded = record(tmp_path, str(program))
    (fact,) = recorded.facts("recompiles")
    assert (fact.failed_compile_id, fact.guard, fact.value, fact.guard_line) == ("0/0", "s == 'a'", "s: 'ab'", 5)
    assert [each.status for each in recorded.compiles()] == ["compiled", "failed"]


@pytest.mark.matrix
def test_no_line_is_told_of_a_guard_that_none_needs(tmp_path: Path):
    """The range of a mark, and that 0 and 1 are compiled by themselves."""
    (tmp_path / "marked.py").write_text(
        "import torch\n"
        "def f(x):\n    return x * 2\n"
        "def g(x):\n    return x * 3\n"
        "for function, size, bounds in ((f, 40, {'min': 2, 'max': 16}), (g, 1, {})):\n"
        "    x = torch.ones(4)\n    torch._dynamo.mark_dynamic(x, 0, **bounds)\n"
        "    compiled = torch.compile(function, backend='eager')\n    compiled(x), compiled(torch.ones(size))\n"
    )
    recorded = record(tmp_path, "marked.py")
    found = {fact.function: fact for fact in recorded.facts("recompiles")}
    assert {name: (fact.guard_path, fact.guard_line) for name, fact in found.items()} == dict.fromkeys(
        "fg", (None, None)
    )
    assert found["f"].hint is not None and "marked with this range" in found["f"].hint


@pytest.mark.matrix
def test_code_without_a_file_is_told_by_its_name(tmp_path: Path):
    (tmp_path / "program.py").write_text(
        "import torch\n"
        "scope = {'stop': torch._dynamo.graph_break}\n"
        "text = 'def forward(x, n):\\n    y = x * n\\n    stop()\\n    return y.sum() * n'\n"
        "exec(compile(text, '<generated forward>', 'exec'), scope)\n"
        "for n in (2, 3):\n"
        "    torch.compile(scope['forward'], backend='eager')(torch.ones(n), n)\n"
    )
    recorded = record(tmp_path, "program.py")
    for store in (recorded.store, recorded.imported):
        paths = {each.path for each in recorded.compiles(store)}
        assert "<generated forward>" in paths and "" not in paths  # torch 2.11 compiles it in a function of torch's
        assert {each.path for each in recorded.facts("graph_breaks", store)} == {"<generated forward>"}
    found = {(each.guard_path, each.guard_line) for each in recorded.facts("recompiles")}
    assert ("<generated forward>", 4) in found
    with Reader.open(recorded.store) as reader:
        calls = [reader.compile(each.id).call for each in reader.compiles()]
    assert {(call.path, call.line) for call in calls} == {(str(tmp_path / "program.py"), 6)}


@pytest.mark.matrix
def test_strict_exports_are_recorded(tmp_path: Path):
    program = RECORDED / "exports.py"
    at = labels(program)
    recorded = record(tmp_path, str(program))
    found = [(each.function, each.status, each.graphs) for each in recorded.compiles()]
    assert found == [
        ("export of Scaled.forward", "compiled", 1),
        ("export of Branching.forward", "failed", 0),
        ("added", "compiled", 1),
    ]
    assert [each.line for each in recorded.compiles()[:2]] == [at["exported"], at["refused"]]
    (graph_break,) = recorded.facts("graph_breaks")
    assert (graph_break.effect, graph_break.line) == ("raised", at["branch"])
    assert recorded.facts("varying_guards") == []  # nothing checks them
    with Reader.open(recorded.store) as reader:
        (graph,) = graphs(reader, recorded.compiles()[0].id)
    assert any("sin" in node.text for node in graph.nodes)


def test_specialisations_guards_failures_and_times(deciding: Recorded):
    special = next(fact for fact in deciding.facts("specializations") if fact.value == "6")
    assert (special.line, special.origins) == (13, ["L['x'].size()[0]"])
    failure = deciding.facts("backend_failures")[0]
    assert (failure.backend, failure.message, failure.line) == ("no_backend", "no kernel", 27)
    assert any(fact.expression == "L['x']" and fact.kind == "TENSOR_MATCH" for fact in deciding.facts("guards"))
    times = [fact for fact in deciding.facts("line_times") if fact.line == 7]
    assert len(times) == 3 and all(fact.visits == 1 and fact.seconds > 0 for fact in times)


def test_a_failed_compile_names_the_line_that_failed(deciding: Recorded):
    line = labels(RECORDED / "decisions.py")["fails"]
    for store in (deciding.store, deciding.imported):
        (failed,) = [each for each in deciding.compiles(store) if each.function == "failing_in_a_call"]
        assert failed.status == "failed" and failed.failure is not None
        said = [each.strip() for each in failed.failure.splitlines()]
        assert said[0].startswith("TorchRuntimeError: ")
        assert any(f'decisions.py", line {line}, in uses_without_fake' in each for each in said), failed.failure
        assert "TORCHDYNAMO_VERBOSE" not in failed.failure


def test_what_is_left_out_of_a_long_reason_is_said():
    said = shortened("\n".join(map(str, range(9))), most=4)
    assert said.splitlines() == ["0", "1", "… 5 lines left out …", "7", "8"]


def test_compiled_autograd_captures(deciding: Recorded):
    (capture,) = [each for each in deciding.compiles() if each.status == "captured"]
    assert capture.compile_id == "!0" and capture.nodes > 0
    assert told(capture)[0].endswith(" was captured by compiled autograd.")
    assert any(each.compile_id.startswith("!0/") for each in deciding.compiles())


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["SwitchTransformers", "Reformer", "LED", "BigBird", "Flaubert"])
def test_models_that_break(name: str, tmp_path: Path):
    pytest.importorskip("transformers")
    recorded = record(tmp_path, str(RECORDED / "model.py"), name)
    assert assert_breaks_agree(recorded)
