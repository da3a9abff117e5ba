"""The report says what the store holds, in a terminal, as JSON, and on a page that needs nothing else."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from click.testing import CliRunner
from dynascope.cli import main
from dynascope.facts import model
from dynascope.facts.generated.model import Bytecode, LaterForm
from dynascope.facts.reader import Reader
from dynascope.facts.user_stack import UserFrame
from dynascope.facts.writer import Writer

from tests.support.facts import sample


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DYNASCOPE_FACTS", raising=False)
    monkeypatch.chdir(tmp_path)
    sample.write_sample(tmp_path)
    return tmp_path


def report(*arguments: str, fails: bool = False) -> str:
    """What `dynascope report` says, without arguments `dynascope report --all`."""
    result = CliRunner().invoke(main, ["report", *(arguments or ("--all",))])
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def test_terminal_breaks_first_with_their_code(workspace: Path):
    text = report()
    wanted = ["GB0170", "layers.py:5", "if h.sum() > 0:", "torch.cond", "model.py:8", "Recompile", "x: f32[12, 16]"]
    wanted += ["Backend failure", "Specialised", "Functions left uncompiled", "log_step", "Slowest lines", "200.0 ms"]
    places = [text.index(each) for each in wanted]
    assert places == sorted(places), text
    assert "has changed since" not in text


def test_an_edited_line_is_said_to_be(workspace: Path):
    path = workspace / "layers.py"
    path.write_text(path.read_text().replace("h.sum() > 0", "h.sum() > 1"))
    assert "The line has changed since." in report()


def test_a_line_that_has_moved_is_shown_where_it_is_now(workspace: Path):
    path = workspace / "layers.py"
    before = path.read_text()
    line = next(number for number, text in enumerate(before.split("\n"), 1) if "h.sum() > 0" in text)
    path.write_text(f"# new\n# new\n{before}")
    said = f"The file has changed since: this was line {line}."
    assert re.search(rf"❱ *{line + 2} .*h\.sum\(\) > 0", report()) and said in report()
    report("--html", "page.html")
    assert said in Path("page.html").read_text()


def test_json_holds_everything(workspace: Path):
    with Reader.open(workspace / ".dynascope" / "facts.db") as reader:
        stored = [reader.compile(each.id) for each in reader.compiles()]
    told = json.loads(report("--json", "--all"))
    assert (told["launch"], [each["program"] for each in told["runs"]]) == ("launch 1", ["train.py --steps 2"])
    assert [each.pop("name") for each in told["compiles"]] == ["0/0", "0/1", ""]
    (graph,), *none = [each.pop("graphs") for each in told["compiles"]]
    assert none == [[], []] and [node["value"] for node in graph["nodes"]][2:4] == ["f32[8, 16]", "f32[]"]
    (inference, code), *none = [each.pop("forms") for each in told["compiles"]]
    assert none == [[], []] and inference["graphs"] == [graph] and code["text"].endswith("buf0 = mm(arg0)")
    norm = graph["nodes"][2]
    assert (norm["inputs"], norm["module"]) == (["l_x_", "l_self_weight_"], "blocks.0.norm")
    assert [(each["line"], each["function"]) for each in norm["stack"]] == [(7, "Block.forward"), (15, "Model.forward")]
    assert "__compiled_fn_1" in told["compiles"][0].pop("bytecode")["text"]
    assert msgspec.convert(told["compiles"], list[model.CompileFacts]) == stored
    kinds = [name for each in told["compiles"] for name, facts in each.items() if facts]
    assert {"guards", "symbols", "tensors", "calls", "recompiles", "line_times", "backend_failures"} <= set(kinds)


def test_json_has_the_problems_by_their_ids(workspace: Path):
    first, *others = json.loads(report("--json", "--all"))["problems"]
    assert (first["kind"], first["title"]) == ("graphBreak", "Graph break: Data-dependent branching")
    assert first["compiles"] == ["0/0"] and first["place"]["line"] == 5 and first["id"].startswith("GB0170-")
    kinds = ["recompile", "backendFailure", "specialization", "skippedFrame"]
    assert [each["kind"] for each in others] == kinds and others[0]["notes"][-1]["compiles"] == ["0/1"]


def test_the_graph_and_the_bytecode_of_a_compile(workspace: Path):
    text = report("--graph", "0/0")
    model_path, layers_path = workspace.resolve() / "model.py", workspace.resolve() / "layers.py"
    assert text.splitlines() == [
        "# Model.forward [0/0] graph: as Dynamo passed it to the backend",
        "def forward(self,",
        "    l_x_,  # f32[8, 16]  x",
        "    l_self_weight_,  # f32[16]  blocks.0.norm.weight",
        "):",
        "",
        "    # blocks.0.norm",
        f"    # File: {model_path}:7 in Block.forward, code: h = self.norm(x)",
        f"    # called at File: {model_path}:15 in Model.forward, code: x = block(x, 2)",
        "    layer_norm = torch.nn.functional.layer_norm(l_x_, (16,), l_self_weight_)  # f32[8, 16]",
        "",
        "    # blocks.0",
        f"    # File: {layers_path}:5 in gate, code: if h.sum() > 0:",
        f"    # called at File: {model_path}:8 in Block.forward, code: h = gate(h)",
        f"    # called at File: {model_path}:15 in Model.forward, code: x = block(x, 2)",
        "    sum_1 = layer_norm.sum()  # f32[]",
        "    gt = sum_1 > 0  # b8[]",
        "",
        "    return (gt,)",
    ]
    assert "__compiled_fn_1" in report("--code", "0/0")
    assert "0/1 has no recorded graph" in report("--graph", "0/1", fails=True)
    assert "The newest are 0/0, 0/1." in report("--code", "7/7", fails=True)


def test_what_was_made_of_the_graph_of_a_compile(workspace: Path):
    text = report("--form", "0/0", "inference graph")
    assert text.startswith("# Model.forward [0/0] inference graph: by AOTAutograd\ndef forward(self,\n")
    assert f"    # File: {workspace.resolve() / 'model.py'}:7 in Block.forward, code: h = self.norm(x)\n" in text
    code = report("--form", "0/0", "output")
    assert code.splitlines()[0] == "# Model.forward [0/0] output code: by Inductor" and "buf0 = mm(arg0)" in code
    assert report("--form", "0/0", "all") == f"{text}\n{code}"
    assert "0/0 has: inference graph, output code" in report("--form", "0/0", "joint", fails=True)
    assert "0/1 has no recorded form" in report("--form", "0/1", "all", fails=True)


def test_what_was_made_of_a_line_is_listed(workspace: Path):
    node = "    10  layer_norm = torch.nn.functional.layer_norm(l_x_, (16,), l_self_weight_)  # f32[8, 16]"
    assert report("--from", "model.py:7").splitlines() == [
        *("Model.forward [0/0] graph", node),
        *("Model.forward [0/0] inference graph", node),
        *("Model.forward [0/0] output code", "     3  buf0 = mm(arg0)"),
    ]
    assert report("--from", "layers.py:5").count("sum_1 = ") == 2
    assert "gt = sum_1 > 0" in report("--from", "layers.py:5")  # the second node below one comment
    assert "Nothing in the recorded graphs" in report("--from", "model.py:1", fails=True)
    assert "`model.py` is not FILE:LINE" in report("--from", "model.py", fails=True)


def test_why_there_is_no_graph_or_form_is_true(workspace: Path):
    facts = [sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")) for _ in range(5)]
    for number, (each, status) in enumerate(
        zip(facts, ("empty", "failed", "skipped", "compiled", "compiled"), strict=True)
    ):
        each.compile.compile_id, each.compile.status, each.forms = f"{number}/0", status, []
    facts[3].compile.backend = "eager"
    for each in (*facts[:3], facts[4]):
        each.graphs, each.bytecode = [], None
    record(workspace, "launch 2", *facts)
    expected = {
        ("--graph", "0/0"): "0/0 has no recorded graph: no operation was traced in it.",
        ("--code", "1/0"): "1/0 has no recorded bytecode: its compile failed before.",
        ("--guards", "1/0"): "1/0 has no recorded costs of guards: its compile failed before.",
        ("--graph", "2/0"): "2/0 has no recorded graph: it was not compiled.",
        (
            "--form",
            "3/0",
            "all",
        ): "3/0 has no recorded form of a graph but Dynamo's own: its backend, eager, has made none",
        ("--graph", "4/0"): "4/0 has no recorded graph: it was recorded without graphs and bytecode.",
    }
    for arguments, text in expected.items():
        assert text in report(*arguments, fails=True)


def test_in_what_a_key_differs_from_the_run_before(workspace: Path):
    facts = sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py"))
    for launch, size in (("launch 2", 4), ("launch 3", 6)):
        key = f"# The 2 components of the key:\n# [{size}] example_inputs[0]: size=[{size}]\n# [same] gm: GraphModule()"
        facts.forms = [LaterForm("cache key", "not in Inductor's cache", text=key)]
        record(workspace, launch, facts)
    first, last = (report("--launch", launch, "--form", "0/0", "key") for launch in ("launch 2", "launch 3"))
    assert first == "# Model.forward [0/0] cache key: not in Inductor's cache\n" + key.replace("6", "4") + "\n"
    assert last.splitlines()[1:6] == [
        "# What differs from the run before: input 0 of the graph",
        "# input 0 of the graph",
        "#   was size=[4]",
        "#   is  size=[6]",
        "",
    ]
    assert last.endswith(f"\n{key}\n")


def test_what_was_left_out_of_a_graph_is_said(workspace: Path):
    facts = sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py"))
    facts.graphs[0].left_out = 12345
    facts.bytecode = Bytecode("RESUME", left_out=7)
    facts.forms[1].left_out = 77
    record(workspace, "launch 2", facts)
    assert "# 12,345 more nodes were not kept: of a compile, the first 20,000 are." in report("--graph", "0/0")
    assert "7 more characters were not kept" in report("--code", "0/0")
    assert "77 more characters were not kept" in report("--form", "0/0", "output code")


def test_a_page_that_needs_nothing_else(workspace: Path):
    (workspace / "model.py").write_text(sample.MODEL.replace("print", "<script>"))
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    assert "Data-dependent branching" in page and "if h.sum() &gt; 0:" in page
    assert page.count("<script") == 1 and "src=" not in page and "<link" not in page


def test_the_page_says_what_the_terminal_says(workspace: Path):
    text = report()
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    counts = next(line for line in text.splitlines() if "graph breaks at" in line)
    sentences = [
        counts,
        "a graph ends here; what follows is traced on its own",
        "Specialised",
        "Functions left uncompiled",
        "Backend failures",
    ]
    assert all(escape(each) in page for each in sentences)
    assert "<td>scale = 1<td>" in page and "no kernel" in page, page


def test_a_break_before_all_operations_ends_no_graph(workspace: Path):
    empty = sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py"))
    empty.compile.status, empty.compile.graphs, empty.graphs = "empty", 0, []
    record(workspace, "launch 2", empty)
    said = "no graph ends here, for no operation comes before it; what follows is traced on its own"
    assert said in report()
    report("--html", "report.html")
    assert said in (workspace / "report.html").read_text()


def test_the_programs_own_callers_of_a_break_are_all_named(workspace: Path):
    facts = sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py"))
    package, torch = "/venv/lib/site-packages/runner/loop.py", "/venv/lib/site-packages/torch/nn/module.py"
    own = str(workspace / "torch" / "train.py")
    facts.graph_breaks[0].stack = [
        UserFrame(own, 90, "<module>"),
        *(UserFrame(package, line, "loop") for line in range(20, 30)),
        UserFrame(own, 12, "step"),
        *(UserFrame(package, line, "call") for line in range(1, 9)),
        UserFrame(torch, 5, "forward"),
        *facts.graph_breaks[0].stack,
    ]
    record(workspace, "launch 2", facts)
    said = [line.strip() for line in report().splitlines() if "called from" in line or "more callers" in line]
    assert said == [
        "called from model.py:8 in Block.forward",
        "called from model.py:15 in Model.forward",
        *(f"called from runner/loop.py:{line} in call" for line in (8, 7, 6, 5)),
        "… 4 more callers …",
        "called from torch/train.py:12 in step",
        "… 10 more callers …",
        "called from torch/train.py:90 in <module>",
    ]


def test_of_a_recursion_the_ends_are_named(workspace: Path):
    facts = sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py"))
    recursion = [UserFrame(str(workspace / "model.py"), 100 + line, "again") for line in range(500)]
    facts.graph_breaks[0].stack = [*recursion, facts.graph_breaks[0].stack[-1]]
    record(workspace, "launch 2", facts)
    said = [line.strip() for line in report().splitlines() if "called from" in line or "more callers" in line]
    assert len(said) == 25 and said[12] == "… 476 more callers …"
    assert (said[0], said[-1]) == ("called from model.py:599 in again", "called from model.py:100 in again")


def test_workers_that_a_pool_has_ended_do_not_make_a_program_unended(workspace: Path):
    database = workspace / ".dynascope" / "facts.db"
    Writer(database, sample.new_run(workspace, "launch 2")).close()
    worker = sample.new_run(workspace, "launch 2")
    worker.pid, worker.began = 4712, worker.began + 1
    writer = Writer(database, worker)  # not closed: it was killed
    writer.write(sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")))
    said = "process 4712: ended from outside, as a pool ends its workers, or not ended."
    assert said in report() and "It has not ended" not in report()
    report("--html", "report.html")
    assert said in (workspace / "report.html").read_text()


def test_the_pages_places_lead_into_the_editor(workspace: Path):
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    path = str(workspace.resolve() / "layers.py")
    assert f'<a href="vscode://file/{quote(path[1:])}:5" data-path="{path}" data-line=5 ' in page


def record(folder: Path, launch: str, *compiles: model.CompileFacts) -> None:
    writer = Writer(folder / ".dynascope" / "facts.db", sample.new_run(folder, launch))
    for each in compiles:
        writer.write(each)
    writer.close()


def test_one_break_is_one_place_whatever_graph_inputs_its_text_names(workspace: Path):
    """Torch lists below its explanation how the tensor was computed: from one input here, from two there."""
    both = [sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")) for _ in range(2)]
    computed = "The branch condition involves a tensor computed as follows:"
    inputs = ["l_self_modules_0_buffers_on_: graph input (L_self_modules_0_buffers_on_)", "l_x_: graph input (L_x_)"]
    for facts, names in zip(both, (inputs[:1], inputs), strict=True):
        facts.graph_breaks[0].explanation = "\n".join(["Detected data-dependent branching.", "", computed, *names])
    record(workspace, "launch 2", *both)
    text = report()
    assert "4 graph breaks at 1 place," in text and text.count("Graph break GB0170") == 1
    assert inputs[0] in text and inputs[1] not in text


def test_what_follows_from_a_break_says_so(workspace: Path):
    paths = str(workspace / "model.py"), str(workspace / "layers.py")
    resumed = sample.second_compile(*paths)
    resumed.compile.resumes_at = 8
    record(workspace, "launch 2", sample.first_compile(*paths), resumed)
    assert "\n  follows from the graph break at layers.py:5\n" in report()
    report("--html", "report.html")
    assert "follows from the graph break at" in (workspace / "report.html").read_text()


def test_one_break_is_one_place_whatever_its_nodes_are_called(workspace: Path):
    both = [sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")) for _ in range(2)]
    for facts, name in zip(both, ("gt", "gt_2"), strict=True):
        facts.graph_breaks[0].explanation = f"The condition\n{name} = gt(max_1, 50)\nis not known."
    record(workspace, "launch 2", *both)
    text = report()
    assert "4 graph breaks at 1 place," in text and text.count("Graph break GB0170") == 1
    assert "\n  gt = gt(max_1, 50)\n  is not known.\n" in text


def test_equal_failures_are_one_with_their_compiles(workspace: Path):
    path = str(workspace / "model.py")
    facts = [sample.second_compile(path, str(workspace / "layers.py")) for _ in range(4)]
    for number, each in enumerate(facts):
        each.compile.compile_id, each.compile.status, each.recompiles = f"0/{number}", "failed", []
        each.compile.failure = "RecompileError: no"
        if number < 2:
            each.backend_failures = []
    record(workspace, "launch 2", *facts)
    text = report()
    assert text.count("Failed compile ") == 1 and "Failed compile model.py:13 Model.forward  [0/0, 0/1]" in text
    assert text.count("Backend failure") == 1
    assert re.search(r"Backend failure \S+:\d+  \[0/2, 0/3\]\n  inductor raised RuntimeError\n", text)
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    assert page.count(' error">') == 2 and "0/0, 0/1</span>\n<br><b>RecompileError: no</b>" in page


def test_what_a_break_led_to_in_some_compiles_is_told_with_those(workspace: Path):
    facts = [sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")) for _ in range(3)]
    for number, each in enumerate(facts):
        each.compile.compile_id = f"{number}/0"
    nested = "*** While handling this graph break, another graph break occurred: ***\n\ngraph break in loop\n"
    facts[2].graph_breaks[0].reason += f"\n\n{nested}  Explanation: not in loops."
    record(workspace, "launch 2", *facts)
    said = [line.strip() for line in report().splitlines() if "led to" in line]
    assert said == ["led to graph break in loop  [2/0]"]
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    assert "<b>graph break in loop</b> <span class=dim>2/0</span>: not in loops." in page


def test_the_break_that_the_others_follow_from_is_first(workspace: Path):
    """Also where the others are more: each call of what it leaves uncompiled has them again."""
    first, *more = [sample.first_compile(str(workspace / "model.py"), str(workspace / "layers.py")) for _ in range(3)]
    first.graph_breaks[0].effect = "function uncompiled"
    for each in more:
        each.graph_breaks[0].type = "Follows from it"
    record(workspace, "launch 2", first, *more)
    text = report()
    assert text.index("Data-dependent branching: the whole function") < text.index("Follows from it:"), text


def test_what_follows_a_break_is_not_called_its_function(workspace: Path):
    path = str(workspace / "model.py")
    resumed = sample.second_compile(path, str(workspace / "layers.py"))
    resumed.compile.resumes_at = 15
    skipped = sample.first_compile(path, str(workspace / "layers.py"))
    skipped.compile.resumes_at, skipped.compile.status, skipped.compile.skip_reason = 16, "skipped", "no"
    record(workspace, "launch 2", resumed, skipped)
    text = report()
    assert "Recompile model.py:15 what follows line 15 of Model.forward" in text
    assert "model.py:16 what follows line 16 of Model.forward: no" in text
    report("--html", "report.html")
    assert (workspace / "report.html").read_text().count("what follows line 15 of Model.forward") == 2


def test_what_runs_uncompiled_for_one_reason_is_one_row(workspace: Path):
    path = str(workspace / "model.py")
    skipped = [sample.first_compile(path, str(workspace / "layers.py")) for _ in range(4)]
    for number, (facts, reason) in enumerate(zip(skipped, ("no", "no", "never", "no"), strict=True)):
        facts.compile.compile_id, facts.compile.status, facts.compile.skip_reason = f"{number}/0", "skipped", reason
    record(workspace, "launch 2", *skipped)
    rows = report().partition("Functions left uncompiled\n")[2].splitlines()[:2]
    assert [row.strip() for row in rows] == [
        "model.py:13 Model.forward: no  [0/0, 1/0, 3/0]",
        "model.py:13 Model.forward: never  [2/0]",
    ]
    report("--html", "report.html")
    page = (workspace / "report.html").read_text()
    assert page.partition("Functions left uncompiled")[2].partition("</table>")[0].count("<tr>") == 2


def test_compiles_after_a_reset_have_other_names(workspace: Path):
    paths = str(workspace / "model.py"), str(workspace / "layers.py")
    four = [sample.first_compile(*paths), sample.second_compile(*paths)] * 2
    record(workspace, "launch 2", *four, four[0])
    assert "[0/0, after reset: 0/0, after reset 2: 0/0]" in report()
    assert "Recompile model.py:13 Model.forward  [0/1, after reset: 0/1]" in report()
    assert [each["name"] for each in json.loads(report("--json", "--all"))["compiles"]] == [
        *("0/0", "0/1", "after reset: 0/0", "after reset: 0/1", "after reset 2: 0/0")
    ]
    assert report("--graph", "after reset: 0/0").startswith("# Model.forward [0/0] graph")


def test_launches_and_what_is_missing(workspace: Path, tmp_path_factory: pytest.TempPathFactory):
    name, program = report("--launches").splitlines()[0].split("\t")
    assert name == "launch 1" and report("--launch", program, "--json") == report("--launch", name, "--json")
    assert "no launch 'other'" in report("--launch", "other", fails=True)
    assert "dynascope run" in report(str(tmp_path_factory.mktemp("empty")), fails=True)
    (workspace / ".dynascope/facts.db").write_bytes(b"damaged" * 4000)
    assert "cannot be read" in report(fails=True)


def test_what_two_processes_compile_alike_is_told_once(workspace: Path):
    sample.write_sample(workspace)
    text = report("--all")
    assert text.count("0/1 fits any size of 2 or more") == 1 and "met x: f32[12, 16]\n" in text
