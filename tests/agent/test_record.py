"""`dynascope.record()`: a program records a block of its own, and asks for what was compiled in it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import dynascope
import torch
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME

from tests.support.marks import labels

HERE = Path(__file__)
X = torch.ones(3)


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, **{"backend": "eager", **options})


def helper(x: Any) -> Any:
    torch._dynamo.graph_break()  #: broken
    return x * 2


def breaking(x: Any) -> Any:
    return helper(x + 1) + helper(x - 1)


def sized(x: Any, by: int) -> Any:
    return x * by


def clean(x: Any) -> Any:
    return x.sin()


def test_a_break_is_told_with_its_place_id_and_hints(capsys: pytest.CaptureFixture[str]):
    with dynascope.record() as trace:
        compiled(breaking)(X)
    (found,) = trace.breaks
    assert (found.path, found.line, found.count) == (str(HERE), labels(HERE)["broken"], 3)
    assert found.registry_id is not None and found.id.startswith(f"{found.registry_id}-")
    assert "graph_break" in found.reason and found.hints and found.callers
    assert trace.recompiles == trace.failures == trace.skipped == trace.errors == []
    print(trace)
    told = capsys.readouterr().out
    assert f"test_record.py:{found.line} Graph break" in told and found.id in told
    assert "torch._dynamo.graph_break()" in trace.explain(found.id)
    assert trace.explain(f"test_record.py:{found.line}") == trace.explain(found.id[:8])
    with pytest.raises(LookupError, match=found.id):
        trace.explain("GB9999")
    assert "Slowest lines" in trace.report()


def test_counts_tell_places_and_events_apart():
    function = compiled(lambda x, by: x * by)  # of which torch remembers no sizes from another test
    with dynascope.record() as trace:
        for size, by in ((3, 2), (4, 2), (5, 2), (5, 3), (5, 4)):
            function(torch.ones(size), by)
        compiled(breaking)(X)
    counts = trace.counts()
    assert (counts["graph_breaks"], counts["graph_break_places"]) == (3, 1)
    assert (counts["recompiles"], counts["recompile_causes"]) == (2, 2)
    assert counts["compiles"] == len(trace.compiles) and counts["graphs"] == len(trace.graphs)
    assert repr(trace).startswith("<dynascope.Recording compiles=")
    assert sorted(each.compiles for each in trace.recompiles) == [["0/1"], ["0/2"]]


def test_a_check_fails_in_one_text_that_names_line_and_remedy():
    with dynascope.record() as trace:
        compiled(breaking)(X)
        function = compiled(sized)
        function(X, 2), function(X, 3)
    trace.check(graph_breaks=3, recompiles=1)
    with pytest.raises(AssertionError) as failed:
        trace.check(graph_breaks=1, recompiles=0, graphs=100)
    text = str(failed.value)
    assert text.startswith("3 graph breaks, 1 allowed:\n")
    assert f"test_record.py:{labels(HERE)['broken']} Graph break" in text
    assert "1 recompile:\n" in text and "hint" in text and "dynamic" in text


def test_a_check_of_nothing_fails_unless_nothing_is_expected():
    function = compiled(clean)
    function(X)
    with dynascope.record() as trace:
        function(X)
    with pytest.raises(AssertionError, match=r"^Nothing was compiled.*torch\._dynamo\.reset"):
        trace.check(graph_breaks=0)
    trace.check(compiles=0)
    assert "Nothing was compiled" in str(trace)
    assert repr(trace) == "<dynascope.Recording of no compile>"


def test_failures_are_kept_when_the_block_raises():
    with pytest.raises(torch._dynamo.exc.Unsupported), dynascope.record() as trace:
        compiled(breaking, fullgraph=True)(X)
    (failed,) = trace.failures
    assert failed.line == labels(HERE)["broken"] and trace.compiles[0].status == "failed"
    with pytest.raises(AssertionError, match=r"^1 failure:"):
        trace.check()

    def refuses(module: Any, inputs: Any) -> Any:
        raise ValueError("no")

    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed), dynascope.record() as trace:
        compiled(clean, backend=refuses)(X)
    assert [each.kind for each in trace.failures] == ["backendFailure"]


def test_what_was_compiled_before_is_named_where_it_is_compiled_again():
    function = compiled(sized)
    function(X, 2)
    with dynascope.record() as trace:
        function(X, 3)
        function(X, 4)
    assert [each.cause for each in trace.recompiles] == ["by"]
    assert [each.name for each in trace.compiles] == ["0/1"]


def test_blocks_are_nested_and_each_has_its_own():
    with dynascope.record() as outer:
        compiled(breaking)(X)
        with dynascope.record() as inner:
            compiled(clean)(X)
        compiled(sized)(X, 2)
    names = [[each.function for each in trace.compiles if each.graphs] for trace in (outer, inner)]
    assert names == [["breaking", "helper", "breaking", "breaking", "clean", "sized"], ["clean"]]
    assert outer.errors == inner.errors == []


def test_it_records_all_threads_until_the_block_ends():
    with dynascope.record() as trace:
        thread = threading.Thread(target=lambda: compiled(breaking)(X))
        thread.start()
        thread.join()
    compiled(clean)(X)
    assert trace.counts()["graph_breaks"] == 3
    assert "clean" not in {each.function for each in trace.compiles}


def test_a_compile_that_begins_before_is_left_out_and_one_that_ends_later_is_kept():
    block = dynascope.record()

    def begins(module: Any, inputs: Any) -> Any:
        block.__enter__()
        return module.forward

    def ends(module: Any, inputs: Any) -> Any:
        block.__exit__(None, None, None)
        return module.forward

    compiled(clean, backend=begins)(X)
    assert block.trace.compiles == []
    compiled(sized, backend=ends)(X, 2)
    assert [(each.function, each.graphs) for each in block.trace.compiles] == [("sized", 1)]
    compiled(breaking)(X)
    assert len(block.trace.compiles) == 1 and block.trace.errors == []


def test_a_decorated_function_is_recorded_at_each_call():
    block = dynascope.record()
    with pytest.raises(RuntimeError, match="has not run"):
        print(block.trace)

    @block
    def step(x: Any, *, by: int = 2) -> Any:
        """Step."""
        return compiled(sized)(x, by)

    assert step.__doc__ == "Step." and torch.equal(step(X, by=3), X * 3)
    first = block.trace
    torch._dynamo.reset()
    step(X)
    assert [len(each.compiles) for each in (first, block.trace)] == [1, 1] and first is not block.trace

    async def later() -> None: ...
    async def later_ones() -> Any:
        yield 1

    for goes_on in (later, later_ones):
        with pytest.raises(TypeError, match="goes on after its call"):
            block(goes_on)
    with pytest.raises(TypeError, match="Recorded is a class"):
        block(type("Recorded", (), {}))


def test_calls_of_a_decorated_function_on_two_threads_have_a_recording_each():
    inside, may_end = threading.Event(), threading.Event()
    block = dynascope.record()
    traces = []

    @block
    def first() -> None:
        traces.append(block.trace)
        inside.set()
        assert may_end.wait(60)

    thread = threading.Thread(target=first)
    thread.start()
    assert inside.wait(60)

    @block
    def second() -> None:
        traces.append(block.trace)
        may_end.set()
        thread.join()
        compiled(clean)(X)

    second()
    assert [len(each.compiles) for each in traces] == [0, 1]


def test_wrong_use_is_said():
    block = dynascope.record()
    with pytest.raises(RuntimeError, match="was not entered"):
        block.__exit__(None, None, None)
    with block as trace:
        compiled(clean)(X)
    for wrong in ("0", -1):
        with pytest.raises(ValueError, match="graph_breaks is the most that is allowed, a number from 0"):
            trace.check(graph_breaks=wrong)  # type: ignore[arg-type]


def test_graphs_have_their_code_if_it_is_asked_for():
    with dynascope.record(graphs=True) as trace, dynascope.record() as without:
        compiled(breaking)(X)
    assert [each.function for each in trace.graphs] == ["breaking", "helper", "breaking", "breaking"]
    assert "l_x_ + 1" in trace.graphs[0].code and "# File:" in trace.graphs[0].code
    assert {each.code for each in without.graphs} == {""} and len(without.graphs) == 4


def test_a_notebook_shows_the_page_and_save_keeps_it_for_the_report(tmp_path: Path):
    with dynascope.record(graphs=True) as trace:
        compiled(breaking, backend="aot_eager")(torch.ones(3, requires_grad=True)).sum().backward()
    shown = trace._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&lt;!doctype html&gt;" in shown.lower()
    for _ in range(2):
        assert trace.save(tmp_path) == tmp_path / FILE_NAME
    with Reader.open(tmp_path / FILE_NAME) as reader:
        runs = reader.runs()
        assert len(runs) == 2 and all(each.ended is not None for each in runs)
    report = [sys.executable, "-m", "dynascope", "report", "--facts", str(tmp_path), "--graph", "0/0"]
    told = subprocess.run(report, capture_output=True, text=True, timeout=100)
    assert "def forward(self," in told.stdout, told.stderr


def test_it_records_within_a_program_that_is_recorded(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, dynascope\n"
        "@torch.compile(backend='eager')\n"
        "def f(x):\n    torch._dynamo.graph_break()\n    return x + 1\n"
        "with dynascope.record() as trace:\n    f(torch.ones(3))\n"
        "print(trace.counts())\n"
    )
    environment = {**os.environ, "DYNASCOPE_FACTS": str(tmp_path / "facts")}
    run = subprocess.run(
        [sys.executable, "-m", "dynascope", "run", str(program)],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment,
        check=True,
    )
    assert "'graph_breaks': 1" in run.stdout and not run.stderr
    with Reader.open(tmp_path / "facts" / FILE_NAME) as reader:
        assert len(reader.facts("graph_breaks", str(reader.newest_launch()))) == 1


def test_importing_it_imports_no_torch_and_a_block_waits_for_the_program_to(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, dynascope\n"
        "with dynascope.record() as trace:\n"
        "    assert 'torch' not in sys.modules\n"
        "    import torch\n"
        "    assert 'torch._dynamo' not in sys.modules\n"
        "    torch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
        "trace.check(graph_breaks=0, recompiles=0, graphs=1)\n"
        "print(trace)\n"
    )
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100, check=True)
    assert "1 compile, 1 graph, 0 graph breaks" in run.stdout and f"torch {torch.__version__}" in run.stdout


def test_nothing_of_the_program_lives_longer():
    class Kept:
        def __init__(self) -> None:
            self.by = 3

    kept = Kept()
    gone = weakref.ref(kept)
    with dynascope.record(graphs=True) as trace:
        value = torch.ones(4)
        compiled(lambda x, settings: x * settings.by)(value, kept)
    tensor = weakref.ref(value)
    torch._dynamo.reset()
    gc.collect()
    del kept, value
    assert gone() is None and tensor() is None
    assert len(trace.compiles) == 1
