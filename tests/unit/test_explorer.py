"""The tree of runs says what the report says, and reads only what is opened."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dynascope.explain.problem import Place
from dynascope.facts import model
from dynascope.facts.file_names import told_apart
from dynascope.facts.generated.model import GuardCosts
from dynascope.facts.launches import remove
from dynascope.facts.profile import NO_PARENT, Phase, Profile, TracedFunction
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer
from dynascope_lsp.explorer.generated_rows import document_text, graph_data
from dynascope_lsp.explorer.rows import ExplorerRow
from dynascope_lsp.explorer.tree import KeptRuns, Order, rows
from msgspec import structs

from tests.support.facts import sample

Below = Callable[..., list[ExplorerRow]]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return sample.write_sample(tmp_path)


@pytest.fixture
def below(store: Path) -> Iterator[Below]:
    """The rows below the row with these labels."""
    with Reader.open(store) as reader:

        def find(*labels: str, order: Order = "time") -> list[ExplorerRow]:
            keys: list[str] = []
            found = rows({"here": reader}, keys, order)
            for label in labels:
                row = next(each for each in found if each.label == label)
                keys.append(row.key)
                found = row.children or rows({"here": reader}, keys, order)
            return found

        yield find


RUN = "train.py --steps 2"


def told(found: list[ExplorerRow]) -> list[tuple[str, str]]:
    return [(each.label, each.description) for each in found]


def add(store: Path, launch: str, *compiles: model.CompileFacts, **run: object) -> None:
    """Record one more process."""
    each = sample.new_run(store.parent.parent, launch)
    for name, value in run.items():
        setattr(each, name, value)
    writer = Writer(store, each)
    for facts in compiles:
        writer.write(facts)
    writer.close()


def test_runs_with_what_went_wrong_in_them(store: Path, below: Below):
    add(store, "launch 2", program="other.py")
    newest, older = below()
    assert (newest.label, newest.icon, newest.is_lazy) == ("other.py", "circle-slash", False)
    assert "nothing was compiled" in newest.description and newest.brief == "nothing was compiled"
    assert (older.label, older.severity, older.is_lazy) == (RUN, "error", True)
    assert "1.8 s · 1 failed compile, 2 graph breaks, 1 recompile" in older.description
    assert older.brief == "1 failed compile, 2 graph breaks, 1 recompile"
    assert "torch 2.13.0" in older.description and "Python 3.12.4" in older.tooltip


def test_a_run_that_goes_on_and_one_that_was_killed(store: Path, below: Below):
    own = platform.node()
    for launch, host, pid in (("goes on", own, os.getpid()), ("killed", own, 2**22 + 1), ("elsewhere", "away", 1)):
        run = sample.new_run(store.parent.parent, launch, f"{launch}.py")
        run.host, run.pid = host, pid
        Writer(store, run)  # not closed: it has not ended
    described = {each.label: each for each in below()}
    assert described["goes on.py"].brief == "recording"
    assert "running" in described["goes on.py"].description and described["goes on.py"].icon == "loading~spin"
    assert "ended early" in described["killed.py"].description and "killed" in described["killed.py"].tooltip
    assert "not ended" in described["elsewhere.py"].description


def test_compiles_after_a_reset_have_other_names(store: Path, below: Below):
    paths = str(store.parent.parent / "model.py"), str(store.parent.parent / "layers.py")
    add(store, "launch 2", *[sample.first_compile(*paths)] * 2, program="reset.py")
    assert [label for label, _ in told(below("reset.py", "Compiles"))] == [
        "[0/0] Model.forward",
        "[after reset: 0/0] Model.forward",
    ]


def test_the_sections_of_a_run_are_those_of_the_report(below: Below):
    assert told(below(RUN)) == [
        ("Graph Breaks", "1 place"),
        ("Recompiles", "1 cause"),
        ("Backend Failures", "1"),
        ("Specialised", "1"),
        ("Functions Left Uncompiled", "1"),
        ("Compiles", "2"),
        ("Slowest Lines to Trace", ""),
    ]
    (uncompiled,) = below(RUN, "Functions Left Uncompiled")
    assert uncompiled.label.startswith("model.py:20  ") and uncompiled.description == "log_step"
    assert uncompiled.label.endswith("a file that it never traces")


def test_guards_that_will_not_hold_are_below_their_compile(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    first, second = sample.first_compile(*paths), sample.second_compile(*paths)
    counted = model.VaryingGuard(
        path=paths[0], line=8, kind="set", expression="L['self'].step", value="2", others=["3"]
    )
    counted.guard_of, counted.function = first.compile.compile_id, "Model.forward"
    seen = model.VaryingGuard(path=paths[0], line=9, kind="seen", expression="G['SCALE']", value="1", others=["4"])
    seen.guard_of, seen.function, seen.seen_in = first.compile.compile_id, "Model.forward", "evaluate [0/1]"
    first.varying_guards, second.varying_guards = [counted], [seen]  # what a later compile sees of an earlier one
    add(store, "launch 2", first, second, program="counting.py")
    own = [
        each
        for each in below("counting.py", "Compiles", "[0/0] Model.forward")
        if each.key.startswith("willRecompile:")
    ]
    assert told(own) == [
        ("model.py:8  self.step will not be 2", "in Model.forward"),
        ("model.py:9  SCALE will not be 1", "in Model.forward"),
    ]
    assert own[0].place == Place(paths[0], 8, own[0].place.source) and "the call itself makes it 3" in own[0].tooltip
    assert own[0].children[0].label.startswith("Keep it in a tensor, whose values are not guarded")
    later = below("counting.py", "Compiles", "[0/1] Model.forward")
    assert not [each for each in later if each.key.startswith("willRecompile:")]
    assert [each.label for each in below("counting.py", "Will Be Compiled Again")] == [each.label for each in own]


def test_a_break_leads_to_its_line_and_its_callers(store: Path, below: Below):
    (row,) = below(RUN, "Graph Breaks")
    assert (row.label, row.description) == ("layers.py:5  Data-dependent branching", "in gate  0/0")
    layers = str(store.parent.parent / "layers.py")
    assert row.place is not None and (row.place.path, row.place.line) == (layers, 5) and row.place.source
    assert "GB0170" in row.tooltip and "a graph ends here; what follows is traced on its own" in row.tooltip
    assert told(below(RUN, "Graph Breaks", row.label)) == [
        ("If it chooses between values: `torch.where(condition, a, b)`; if between code: `torch.cond`.", ""),
        ("Called from Block.forward", "model.py:8"),
        ("Called from Model.forward", "model.py:15"),
    ]


def test_a_cause_has_its_values_its_advice_and_its_compiles(below: Below):
    (row,) = below(RUN, "Recompiles")
    assert (row.label, row.description) == (
        "model.py:13  x.size()[0]",
        "made for size 8, met x: f32[12, 16]  Model.forward  0/1  500 ms",
    )
    advice, guard, compile = below(RUN, "Recompiles", row.label)
    assert "maybe_mark_dynamic" in advice.label and guard.description == "model.py:7"
    assert (compile.label, compile.is_lazy) == ("0/1", True) and "expected 8, actual 12" in compile.description
    assert below(RUN, "Recompiles", row.label, "0/1")


def test_a_recompile_of_what_follows_a_break_is_below_it(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    resumed = sample.second_compile(*paths)
    resumed.compile.resumes_at = 8
    add(store, "launch 2", sample.first_compile(*paths), resumed, program="resumed.py")
    assert "Recompiles" not in [each.label for each in below("resumed.py")]
    (broken,) = below("resumed.py", "Graph Breaks")
    (follows,) = [each for each in broken.children if each.key.startswith("recompile:")]
    assert follows.label == "model.py:8  x.size()[0]" and "what follows line 8" in follows.description
    assert not [each for each in follows.children if each.key.startswith("root:")]
    labels = "Compiles", "[0/1] what follows line 8 of Model.forward", follows.label
    (row,) = [each for each in below("resumed.py", *labels) if each.key.startswith("root:")]
    assert (row.label, row.description) == ("Follows from the graph break at", "layers.py:5")


def test_what_is_below_a_compile(below: Below):
    assert told(below(RUN, "Compiles"))[0] == ("[0/0] Model.forward", "model.py:13  2 graph breaks  1.2 s")
    assert [each.label for each in below(RUN, "Compiles", "[0/0] Model.forward")] == [
        "layers.py:5  Data-dependent branching",
        "Graph",
        "Generated Code",
        "AOTAutograd and Inductor",
        "Guards",
        "Functions Traced Inline",
        "Slowest Lines to Trace",
    ]
    guards = below(RUN, "Compiles", "[0/0] Model.forward", "Guards")
    assert [each.label for each in guards] == ["x", "GRAD_MODE"] and guards[1].place is None
    inline = below(RUN, "Compiles", "[0/0] Model.forward", "Functions Traced Inline", "Block.forward")
    assert told(inline) == [("gate", "layers.py:4  ×2")]
    slowest = below(RUN, "Compiles", "[0/0] Model.forward", "Slowest Lines to Trace")
    assert told(slowest)[0] == ("█░░░░ 16% layers.py:5", "200 ms  if h.sum() > 0:")
    failed = below(RUN, "Compiles", "[0/1] Model.forward")
    assert failed[0].label.endswith("  BackendCompilerFailed: no kernel for aten::frobnicate")
    assert ("s77 = 12", "in [2, oo]  from x.size()[0]") in told(
        below(RUN, "Compiles", "[0/1] Model.forward", "Symbols")
    )


def test_the_graph_and_the_code_are_documents(store: Path, below: Below):
    graph, code = [each for each in below(RUN, "Compiles", "[0/0] Model.forward") if each.document is not None]
    assert (graph.label, graph.description, graph.is_lazy) == ("Graph", "7 nodes", False)
    assert graph.document is not None and graph.document.name == "Model.forward [0-0] graph.py"
    assert code.document is not None and code.document.name == "Model.forward [0-0] generated bytecode.txt"
    with Reader.open(store) as reader:
        text = document_text(reader, "launch 1", graph.document.id)
        assert f"# File: {store.parent.parent.resolve() / 'layers.py'}:5 in gate, code: if h.sum() > 0:" in text
        assert "layer_norm = torch.nn.functional.layer_norm(" in text and "blocks.0.norm.weight" in text
        assert "__compiled_fn_1" in document_text(reader, "launch 1", code.document.id)
        assert "no longer recorded" in document_text(reader, "launch 1", "graph:4711")
        assert document_text(reader, "launch 1", "graph:2").startswith("# 0/1 has no recorded graph")
    without = below(RUN, "Compiles", "[0/1] Model.forward")
    assert not [each for each in without if each.document is not None]


def test_what_guards_cost_is_a_document(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    facts = sample.first_compile(*paths)
    facts.guard_costs = GuardCosts(2_200.0, [], [], [], "forward [0/0] guards: 57\n")
    add(store, "launch 2", facts, program="guards.py")
    (row,) = [each for each in below("guards.py", "Compiles", "[0/0] Model.forward") if each.key.startswith("guards:")][
        :1
    ]
    assert (row.label, row.description) == ("What Guards Cost", "a lookup takes 2.2 µs")
    assert row.document is not None and row.document.name == "Model.forward [0-0] guards.txt"
    with Reader.open(store) as reader:
        heading, text = document_text(reader, "launch 2", row.document.id).splitlines()
        assert heading.startswith("# Model.forward [0/0] guards: ") and text == "forward [0/0] guards: 57"
        assert document_text(reader, "launch 1", "guards:1").startswith("# 0/0 has no recorded costs of guards: to rec")


def test_a_recompile_has_its_call_and_what_differs_in_it(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    first, second = sample.first_compile(*paths), sample.second_compile(*paths)
    for facts, scale in ((first, "2"), (second, "5")):
        facts.call = model.CompiledCall([("x", f"f32[{scale}]"), ("scale", scale)], paths[1], 4, "train")
    add(store, "launch 2", first, second, program="called.py")
    (row,) = [each for each in below("called.py", "Compiles", "[0/1] Model.forward") if each.key == "call"]
    assert (row.label, row.place is not None) == ("Called by train", True)
    assert row.description == "layers.py:4  Arguments since 0/0: scale was 2, and is 5."


def test_what_was_made_of_the_graph_is_below_it(store: Path, below: Below):
    (made,) = [each for each in below(RUN, "Compiles", "[0/0] Model.forward") if each.key.startswith("forms:")]
    documents = [each.document for each in made.children if each.document is not None]
    assert [each.label for each in made.children] == ["Inference graph", "Output code"] and not made.is_lazy
    assert documents[0].name == "Model.forward [0-0] inference graph.py"
    assert [each.id.partition(":")[0] for each in documents] == ["form-graph", "form-text"]
    with Reader.open(store) as reader:
        graph, code = [document_text(reader, "launch 1", each.id) for each in documents]
        assert "# Model.forward [0/0] inference graph: by AOTAutograd" in graph and "gt = sum_1 > 0" in graph
        assert "buf0 = mm(arg0)" in code
        data = graph_data(reader, "launch 1", documents[0].id)
        assert data is not None and data.title == "Model.forward [0/0] inference graph"
        assert [each["name"] for each in data.graphs[0]["nodes"]][-2:] == ["gt", "output"]
        assert graph_data(reader, "launch 1", documents[1].id) is None
        assert "has no recorded joint graph" in document_text(reader, "launch 1", "form-graph:1:joint graph")


def test_where_the_time_of_a_compile_went(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    facts = sample.first_compile(*paths)
    functions = [TracedFunction(NO_PARENT, "Model.forward", paths[0], 13, 0, 0.2, 1)]
    functions.append(TracedFunction(0, "gate", paths[1], 4, 15, 0.1, 2))
    phases = [Phase(NO_PARENT, "backend_compile", 0.3, 0.5), Phase(0, "fx_codegen_and_compile", 0.3, 0.4)]
    facts.profile = Profile(0.0, functions, phases)
    add(store, "launch 2", facts, program="timed.py")
    spent = below("timed.py", "Compiles", "[0/0] Model.forward", "Where the Time Went")
    assert told(spent) == [
        ("███░░ 62% backend_compile", "500 ms (100 ms of its own)"),
        ("██░░░ 38% Model.forward", "300 ms (200 ms of its own)  model.py:13"),
    ]
    assert [each.is_open for each in spent] == [True, False]
    labels = ("timed.py", "Compiles", "[0/0] Model.forward", "Where the Time Went")
    assert told(below(*labels, "███░░ 62% backend_compile")) == [("██░░░ 50% fx_codegen_and_compile", "400 ms")]
    (gate,) = below(*labels, "██░░░ 38% Model.forward")
    assert (gate.label, gate.description, gate.is_lazy) == ("█░░░░ 12% gate", "100 ms ×2  layers.py:4", False)


def test_a_chain_of_calls_is_a_row_and_little_time_has_none(store: Path, below: Below):
    path = str(store.parent.parent / "model.py")
    facts = sample.first_compile(path, path)
    names = ("_compile", "dynamo", "entire_frame_compile", "backend_compile", "inner")
    phases = [Phase(place - 1, name, 0.0, 1.0 - place / 100) for place, name in enumerate(names)]
    facts.profile = Profile(0.0, [], [*phases, Phase(4, "long", 0.0, 0.6), Phase(4, "short", 0.6, 0.005)])
    add(store, "launch 2", facts, program="deep.py")
    (chain,) = below("deep.py", "Compiles", "[0/0] Model.forward", "Where the Time Went")
    assert chain.label == "█████ 96% inner" and "in entire_frame_compile\n" in chain.tooltip
    (inner,) = below("deep.py", "Compiles", "[0/0] Model.forward", "Where the Time Went", chain.label)
    assert (inner.label, inner.is_lazy) == ("███░░ 60% long", False)


def test_where_the_time_of_a_run_went(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    facts, later = sample.first_compile(*paths), Profile(0.0, [], [Phase(NO_PARENT, "async_compile.wait", 0.0, 3.0)])
    facts.compile.seconds = 6.0
    phases = [Phase(NO_PARENT, "entire_frame_compile", 0.0, 5.99), Phase(0, "compile_fx_inner", 0.3, 5.0)]
    phases.append(Phase(0, "create_aot_dispatcher_function", 0.0, 0.05))
    facts.profile = Profile(0.0, [], phases)
    writer = Writer(store, sample.new_run(store.parent.parent, "launch 2", "timed.py"))
    writer.write(facts)
    writer.write_later("0/0", later)
    writer.close()
    assert "9.0 s: Inductor 5.0, kernels 3.0, Dynamo 0.9 · 2 graph breaks" in below()[0].description
    (row,) = [each for each in below("timed.py") if each.label == "Where the Time Went"]
    assert row.description == "9.0 s" and "Slowest Lines to Trace" not in [each.label for each in below("timed.py")]
    parts = below("timed.py", row.label)
    assert [each.label for each in parts] == ["███░░ 56% Inductor", "██░░░ 33% kernels", "█░░░░ 11% Dynamo"]
    assert [each.description for each in parts] == ["5.0 s", "3.0 s", "950 ms"]
    assert parts[0].tooltip.startswith("In this time Inductor writes code for graphs. ")
    (compile,) = below("timed.py", row.label, parts[1].label)
    assert (compile.label, compile.description) == ("██░░░ 33% [0/0] Model.forward", "3.0 s  model.py:13")
    assert below("timed.py", row.label, parts[1].label, compile.label)
    lines, compile = below("timed.py", row.label, parts[2].label)
    assert (lines.label, compile.label) == ("Slowest Lines to Trace", "█░░░░ 11% [0/0] Model.forward")
    assert told(below("timed.py", row.label, parts[2].label, lines.label))[0][0].endswith(" 2% layers.py:5")


def test_the_time_of_ranks_that_are_alike_is_their_own(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    for rank, seconds in ((1, 40.0), (0, 2.0)):  # rank 1 stores the profile; rank 0, which is shown, was faster
        facts = sample.first_compile(*paths)
        facts.compile.seconds = seconds
        facts.profile = Profile(0.0, [], [Phase(NO_PARENT, "compile_fx_inner", 0.0, seconds * 7 / 8)])
        add(store, "launch 2", facts, program="ranks.py", rank=rank)
    assert "2.0 s: Inductor 1.8, Dynamo 0.2 · " in below()[0].description
    inductor, _ = below("ranks.py", "Where the Time Went")
    assert told(below("ranks.py", "Where the Time Went", inductor.label)) == [
        ("████░ 88% [0/0] Model.forward", "1.8 s  model.py:13")
    ]


def test_phases_of_no_time_have_no_share(store: Path, below: Below):
    path = str(store.parent.parent / "model.py")
    facts = sample.first_compile(path, path)
    facts.compile.seconds = 0.0
    facts.profile = Profile(0.0, [], [Phase(NO_PARENT, "compile_fx_inner", 0.0, 0.0)])
    add(store, "launch 2", facts, program="nothing.py")
    assert below("nothing.py", "Where the Time Went")[0].label == "░░░░░ 0% Inductor"
    assert below("nothing.py", "Compiles", "[0/0] Model.forward", "Where the Time Went")[0].label.startswith("░░░░░ 0%")


def test_what_was_compiled_later_is_told_apart(store: Path, below: Below):
    path = str(store.parent.parent / "model.py")
    facts, phases = sample.first_compile(path, path), [Phase(NO_PARENT, "compile_fx_inner", 0.0, 1.0)]
    facts.profile = Profile(0.0, [], phases)
    writer = Writer(store, sample.new_run(store.parent.parent, "launch 2", "later.py"))
    writer.write(facts)
    writer.write_later("0/0", Profile(2.0, [], phases))
    writer.close()
    spent = below("later.py", "Compiles", "[0/0] Model.forward", "Where the Time Went")
    assert [each.label for each in spent] == ["██░░░ 50% compile_fx_inner", "██░░░ 50% compiled later"]


def test_a_failure_after_a_break_is_a_failed_compile(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    failed = sample.second_compile(*paths)
    failed.compile.resumes_at, failed.compile.status, failed.backend_failures[:] = 8, "failed", []
    failed.compile.failure = "InternalTorchDynamoError: no guard"
    add(store, "launch 2", sample.first_compile(*paths), failed, program="fails.py")
    (row,) = below("fails.py", "Failed Compiles")
    assert "no guard" in row.label and [each.label for each in row.children if each.key.startswith("root:")]


def test_what_follows_a_break_in_a_library_is_listed_by_itself(store: Path, below: Below):
    library = store.parent.parent / "site-packages" / "layers.py"
    library.parent.mkdir()
    library.write_text(sample.LAYERS)
    model_path = str(store.parent.parent / "model.py")
    resumed = sample.second_compile(model_path, str(library))
    resumed.compile.resumes_at = 8
    add(store, "launch 2", sample.first_compile(model_path, str(library)), resumed, program="library.py")
    (broken,) = below("library.py", "Graph Breaks")
    assert not [each for each in broken.children if each.key.startswith("recompile:")]
    assert [each.label for each in below("library.py", "Recompiles")] == ["model.py:8  x.size()[0]"]


def test_a_break_without_a_file_says_where_it_is(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    facts = sample.first_compile(*paths)
    facts.graph_breaks[0].path = "<stdin>"
    add(store, "launch 2", facts, program="typed.py")
    assert "<stdin>:5  Data-dependent branching" in [each.label for each in below("typed.py", "Graph Breaks")]


def test_what_was_read_is_kept_until_the_store_changes(store: Path):
    kept = KeptRuns()
    with Reader.open(store) as reader:
        key = rows({"here": reader}, [])[0].key
        opened = kept.opened("here", reader, "launch 1")
        assert rows({"here": reader}, [key], kept=kept) and "ranked" in vars(opened)
        assert kept.opened("here", reader, "launch 1") is opened
        add(store, "launch 2", program="other.py")
        assert kept.opened("here", reader, "launch 1") is not opened


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        ({"/a/b"}, {"/a/b": ""}),
        ({"/a/b", "/a/c"}, {"/a/b": "b", "/a/c": "c"}),
        ({"/a/b", "/x/b"}, {"/a/b": "a/b", "/x/b": "x/b"}),
        (set(), {}),
    ],
)
def test_folders_are_told_apart_by_the_ends_of_their_paths(folders: set[str], names: dict[str, str]):
    assert told_apart(folders) == names


def test_runs_of_several_folders_are_told_apart(store: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    with Reader.open(store) as own, Reader.open(sample.write_sample(other)) as elsewhere:
        folders = {str(store.parent): own, str(other / ".dynascope"): elsewhere}
        described = [each.description for each in rows(folders, [])]
    assert sorted(each.partition(" · ")[0] for each in described) == sorted([store.parent.parent.name, "other"])


def test_the_order_of_compiles(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    first, slow, failed = (make(*paths) for make in (sample.first_compile, sample.first_compile, sample.second_compile))
    slow.compile.compile_id, slow.compile.seconds, slow.graph_breaks[:] = "1/0", 9.0, []
    add(store, "launch 2", first, slow, failed, program="again.py")

    def ids(order: Order) -> list[str]:
        return [each.label.partition(" ")[0] for each in below("again.py", "Compiles", order=order)]

    assert ids("time") == ["[0/0]", "[1/0]", "[0/1]"]
    assert ids("severity") == ["[0/1]", "[0/0]", "[1/0]"]
    assert ids("duration") == ["[1/0]", "[0/0]", "[0/1]"]


def test_each_rank_that_compiles_something_else_has_its_own_compiles(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    for rank in (1, 0):
        compiled = sample.first_compile(*paths)
        compiled.compile.nodes += rank
        add(store, "launch 2", compiled, program="ranks.py", rank=rank)
    assert "2 ranks" in below()[0].description
    assert [row for row in told(below("ranks.py")) if row[0].startswith("Compiles")] == [
        ("Compiles of rank 0", "1"),
        ("Compiles of rank 1", "1"),
    ]
    assert below("ranks.py", "Graph Breaks")[0].description.endswith("rank 1: 0/0, rank 0: 0/0")


def test_ranks_that_compile_the_same_are_one(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    for rank in (1, 0, 2):
        add(store, "launch 2", sample.first_compile(*paths), program="ranks.py", rank=rank)
    assert "1.2 s · 2 graph breaks · 3 ranks" in below()[0].description
    assert [row for row in told(below("ranks.py")) if row[0].startswith("Compiles")] == [("Compiles of ranks 0-2", "1")]
    assert below("ranks.py", "Graph Breaks")[0].description.endswith("0/0")


def test_what_is_new_and_what_is_gone_since_the_run_before(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    first = sample.first_compile(*paths)
    first.graph_breaks[0].line += 3  # the same break, at a line that has moved
    another = sample.first_compile(*paths).graph_breaks[0]
    another.type = "Attempted to call a builtin"
    first.graph_breaks.append(another)
    add(store, "launch 2", program="other.py")
    add(store, "launch 3", first, program="train.py --steps 4")
    title = below("train.py --steps 4")[-1].label
    assert title.startswith("Since the Run of ") and title not in [each.label for each in below(RUN)]
    assert [row[0] for row in told(below("train.py --steps 4", title))] == [
        "1 compile",
        "1.2 s",
        "New: layers.py:5  Attempted to call a builtin",
        "Gone: model.py:13  x.size()[0]",
    ]


def test_equal_failures_are_one_row_and_others_have_distinct_keys(store: Path, below: Below):
    paths = [str(store.parent.parent / name) for name in ("model.py", "layers.py")]
    thrice = sample.second_compile(*paths)
    thrice.backend_failures.append(structs.replace(thrice.backend_failures[0], message="no memory"))
    thrice.backend_failures.append(thrice.backend_failures[0])
    add(store, "launch 2", thrice, program="thrice.py")
    keys = [each.key for each in below("thrice.py", "Backend Failures")]
    assert len(keys) == 2 and len(set(keys)) == 2


def test_what_is_gone_has_no_rows(store: Path, below: Below):
    keys = [below()[0].key, below(RUN)[0].key]
    with Reader.open(store) as reader:
        assert rows({"elsewhere": reader}, keys) == []
        assert rows({"here": reader}, [keys[0], "compile:4711"]) == []
        assert remove(store) == 0
        assert rows({"here": reader}, []) == [] and rows({"here": reader}, keys) == []


def test_one_run_is_removed_but_none_that_goes_on(store: Path, below: Below):
    run = sample.new_run(store.parent.parent, "goes on", "goes_on.py")
    run.host, run.pid = platform.node(), os.getpid()
    Writer(store, run)
    add(store, "launch 2", program="other.py")
    assert remove(store, "launch 2") == 0
    assert [each.label for each in below()] == ["goes_on.py", RUN]
    assert remove(store) == 1
    assert [each.label for each in below()] == ["goes_on.py"]
