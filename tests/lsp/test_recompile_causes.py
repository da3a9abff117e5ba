"""Recompiles are told by what caused them, each with all its failed guards, the values met, and what helps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from lsprotocol import types

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, page, program, record, report

PROGRAM = """
    import torch
    from torch import nn

    SCALE = "small"


    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.step = 0

        def forward(self, x):
            self.step += 1
            return self.layer(x) * min(1.0, self.step / 10)


    class Options:
        def __init__(self, mode):
            self.mode = mode


    class Others(Options):
        pass


    def schedule():
        step = 0

        def rate():
            nonlocal step
            step += 1
            return step / 10

        return rate


    def compiled(function):
        return torch.compile(function, backend="eager")


    @compiled
    def total(x, names):
        return x * len(names)


    @compiled
    def scaled(x):
        return x * 2 if SCALE == "small" else x * 3


    @compiled
    def doubled(x):
        return x * 2


    @compiled
    def chosen(x, options):
        return x + 1 if options.mode == "plus" else x - 1


    @compiled
    def summed(x):
        return x.sum()


    @compiled
    def powered(x, flag):
        return x**2 if flag == "square" else x**3


    rate = schedule()


    @compiled
    def updated(x):
        return x - rate()


    @compiled
    def arranged(x, pattern):
        return x.sum() if pattern.endswith("-> b a") else x


    x = torch.ones(3)
    counter = torch.compile(Counter(), backend="eager")
    for _ in range(11):
        counter(x)
    for number in range(5):
        total(x, ["name"] * number)
    for SCALE in ("small", "large"):
        scaled(x)
    doubled(x)
    with torch.no_grad():
        doubled(x)
    for options in (Options("plus"), Options("minus"), Others("plus")):
        chosen(x, options)
    for size in (4, 5):
        summed(torch.ones(size, 2))
    for flag in ("square", "cube", "else"):
        powered(x, flag)
    for _ in range(3):
        updated(x)
    for pattern in ("a b -> b a", "a b -> a b"):
        arranged(x, pattern)
"""
CAUSES = {
    "Counter.forward": [("self.step", "1, 2, 3, 4, 5, 6, 7, 8")],
    "total": [("len(names)", "1, 2, 3, 4")],
    "scaled": [("SCALE", "'large'")],
    "doubled": [("grad_mode", "False")],
    "chosen": [("options.mode", "'minus'"), ("type(options)", "Others")],
    "summed": [("x.size()[0]", "x: f32[5, 2]")],
    "powered": [("flag", "'cube', 'else'")],
    "updated": [("step", "1, 2")],
    "arranged": [("pattern", "'a b -> a b'")],
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = program(tmp_path_factory.mktemp("causes"), "causes.py", PROGRAM)
    record(path.parent, path.name)
    return path


def paragraphs(text: str) -> list[str]:
    return [each for each in text.split("\n\n") if each.startswith("Recompile")]


def function_of(paragraph: str) -> str:
    return paragraph.splitlines()[0].split("  ")[0].split()[-1]


def test_each_cause_is_told_once_with_the_values_in_order(recorded: Path):
    text = report(recorded.parent)
    assert "21 recompiles for 10 causes" in text
    told: dict[str, list[tuple[str, str]]] = {}
    for each in paragraphs(text):
        function = function_of(each)
        found = re.search(r"because of (.+?): (?:made for .+?, )?met (.+)", each)
        assert found is not None, each
        told.setdefault(function, []).append((found[1], found[2]))
    assert {name: sorted(causes) for name, causes in told.items()} == CAUSES


def test_dynamos_hint_is_kept_and_no_attribute_is_marked_dynamic(recorded: Path):
    by_function = {
        each.splitlines()[0].split("  ")[0].split()[-1]: each for each in paragraphs(report(recorded.parent))
    }
    assert "allow_unspec_int_on_nn_module = True" in by_function["Counter.forward"]
    marked = [name for name, each in by_function.items() if "mark_dynamic" in each]
    assert marked == ["summed"]


def test_the_limit_is_told_once_in_few_lines_and_json_has_every_failed_guard(recorded: Path):
    text = report(recorded.parent)
    assert text.count("limit reached") == 1
    (limited,) = [each for each in paragraphs(text) if each.startswith("Recompile limit reached")]
    assert "×7 compiles" in limited and "0/8 was refused" in limited
    assert (
        "0/8 was refused, and does not match 0/7: self.step == 7, 0/6: self.step == 6, and 6 more compiles" in limited
    )
    assert "… and 4 more: dynascope report --json --all" in limited
    told = json.loads(report(recorded.parent, "--json", "--all"))
    (problem,) = [each for each in told["problems"] if each["kind"] == "recompileLimit"]
    guards = [detail for note in problem["notes"] for detail in note.get("details", ()) if note["kind"] == "compile"]
    assert len([each for each in guards if re.match(r"0/\d: self\.step == \d", each)]) == 8 * 9 // 2


def test_the_page_has_the_same_causes(recorded: Path):
    html = page(recorded.parent)
    assert html.count('<article class="recompile ') == 10 and "21 recompiles for 10 causes" in html
    assert "allow_unspec_int_on_nn_module" in html and "&#39;cube&#39;, &#39;else&#39;" in html


def test_json_has_every_failed_guard_with_its_own_compile(recorded: Path):
    told = json.loads(report(recorded.parent, "--json", "--all"))
    counted = [each for each in told["compiles"] if each["compile"]["function"] == "total" and each["recompiles"]]
    failed = {each["name"]: [fact["failed_compile_id"] for fact in each["recompiles"]] for each in counted}
    assert failed == {f"1/{n}": [f"1/{older}" for older in reversed(range(n))] for n in range(1, 5)}


def test_the_editor_says_the_same(recorded: Path):
    async def scenario() -> None:
        async with editor(recorded.parent) as each:
            uri = each.open(recorded)
            found = [d for d in await each.diagnostics(uri) if str(d.code).startswith("recompile")]
            (foreseen,) = [d for d in found if "updated will be compiled again" in d.message]
            found.remove(foreseen)
            assert len(found) == 10
            (limit,) = [d for d in found if d.code == "recompileLimit"]
            assert limit.range.start.line + 1 == line_of(recorded, "def forward")
            assert "×7 compiles" in limit.message and "met 1, 2, 3, 4, 5, 6, 7, 8" in limit.message
            (doubled,) = [d for d in found if "doubled" in d.message]
            assert "Nothing else differs" in doubled.message
            (powered,) = [d for d in found if "powered" in d.message]
            (at, *_) = [r for r in powered.related_information or [] if "the guard is from" not in r.message]
            assert at.location.range.start.line + 1 == line_of(recorded, "def powered"), at
            assert at.message.startswith("first difference: flag is 'square' in "), at
            assert "allow_unspec_int_on_nn_module" in limit.message and "mark_dynamic" not in limit.message
            lenses = await each.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )
            titles = [lens.command.title for lens in lenses or [] if lens.command]
            assert any(title.startswith("8 graphs, 7 recompiles, ") for title in titles), titles

    run(scenario)


def test_the_report_says_what_first_differs(recorded: Path):
    (powered, *_) = [each for each in paragraphs(report(recorded.parent)) if "powered" in each]
    first = re.search(r"First difference, at causes\.py:\d+: flag is 'square' in (\S+), and 'cube' in (\S+)\.", powered)
    assert first is not None, powered
    side_by_side = report(recorded.parent, "--compare", first[1], first[2])
    assert first[0] in side_by_side and "▶" in side_by_side
    assert "No compile 99/0 is recorded" in report(recorded.parent, "--compare", "99/0", first[2], fails=True)
    assert "flag is &#39;square&#39; in " in page(recorded.parent)
    told = json.loads(report(recorded.parent, "--json", "--all"))["compiles"]
    (compared,) = [each["comparison"] for each in told if each["name"] == first[2]]
    assert (compared["with"], compared["differences"][0]["left"]) == (first[1], "'square'")


OPTIONAL = """
    import torch


    @torch.compile(backend="eager")
    def score(x, mask=None, labels=None):
        if mask is not None:
            x = x * mask
        return x.sum() if labels is None else (x - labels).sum()


    x = torch.ones(2)
    score(x)
    score(x, mask=x)
    score(x, labels=x)
"""


def test_an_argument_that_is_missing_again_is_not_the_cause(tmp_path: Path):
    path = program(tmp_path, "optional.py", OPTIONAL)
    record(tmp_path, path.name)
    text = report(tmp_path)
    assert "2 recompiles for 2 causes" in text
    (labelled,) = [each for each in paragraphs(text) if "because of labels: made for None, met f32[2]" in each]
    assert "[0/2]" in labelled and "First difference, at optional.py:4: labels is None in 0/0" in labelled
    # torch 2.15 names the class
    assert re.search(r"failed other compiles only: type\(mask\): made for (a tensor|Tensor), met NoneType", text)
    assert "not the cause" not in text
    assert "because of <code>labels</code>" in page(tmp_path)


PARITY = """
    import torch


    @torch.compile(backend="eager")
    def halved(x):
        if x.shape[1] % 2:
            x = x[:, 1:]
        return x * 2


    for length in (8, 9, 12, 15):
        halved(torch.ones(length, length))
"""


def test_the_editor_tells_the_same_cause_as_the_report_when_several_guards_failed(tmp_path: Path):
    path = program(tmp_path, "parity.py", PARITY)
    record(tmp_path, path.name)
    told = {re.sub(r": met.*", "", text) for text in re.findall(r"because of (.+)", report(tmp_path))}

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = [d for d in await each.diagnostics(each.open(path)) if d.code == "recompile"]
            assert {re.sub(r": met.*", "", t) for d in found for t in re.findall(r"Because of (.+)", d.message)} == told
            assert not [d for d in found if "Failed too" in d.message]

    assert "failed other compiles only" not in report(tmp_path)
    run(scenario)


LIBRARY = """
    import torch
    from torch import nn

    net = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), backend="eager")
    relu = torch.compile(nn.functional.relu, backend="eager")
    for size in (2, 3):
        net(torch.ones(size, 4))
        relu(torch.ones(size, size))
"""


def test_a_compiled_module_of_a_library_is_told_at_the_line_that_calls_it(tmp_path: Path):
    path = program(tmp_path, "library.py", LIBRARY)
    record(tmp_path, path.name)
    calls = {"Sequential.forward": line_of(path, "net(torch"), "relu": line_of(path, "relu(torch")}
    told = {function_of(each): each.splitlines()[0] for each in paragraphs(report(tmp_path))}
    assert told.keys() == calls.keys()
    assert all(f"library.py:{line} {name}" in told[name] for name, line in calls.items())

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            found = [d for d in await each.diagnostics(each.open(path)) if d.code == "recompile"]
            assert {d.range.start.line + 1 for d in found} == set(calls.values())

    run(scenario)


COUNTED = """
    import torch
    from torch import nn


    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def forward(self, x):
            self.steps += 1
            return x * self.steps


    counted = torch.compile(Counted(), backend="eager")
    for number in range(10):
        counted(torch.ones(3, requires_grad=number % 2 == 1))
"""


def test_a_value_with_two_states_is_not_told_as_what_reached_the_limit(tmp_path: Path):
    """At the refused call as many compiles fail for `requires_grad` as for the number, which each call changes."""
    record(tmp_path, program(tmp_path, "counted.py", COUNTED).name)
    told = re.findall(r"^(Re\w+).*\n  because of (\S+):", report(tmp_path), re.MULTILINE)
    assert ("Recompile", "x.requires_grad") in told
    assert [about for kind, about in told if about == "self.steps"] == ["self.steps"]
    (limited,) = [each for each in paragraphs(report(tmp_path)) if each.startswith("Recompile limit reached")]
    assert "because of self.steps" in limited
