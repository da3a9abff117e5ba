"""Hover: shapes of a name with their symbols, compiles of a function, what a diagnostic says, at any position."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

from tests.lsp.editor import PULLS, editor, run
from tests.lsp.recording import line_of, program, record
from tests.support.facts import sample


def test_a_local_shows_one_row_per_value_with_its_symbols(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            text = await each.hover(uri, 7, 8)
            assert "| `f32[8, 16]` | 0/0 | node `layer_norm` |" in text
            assert "| `f32[s77, 16]` | 0/1 |" in text
            assert "`s77` = 12, in [2, oo], from x.size()[0]" in text

    run(scenario)


def test_a_use_shows_what_the_nearest_assignment_gave(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            assert "node `mul`" in await each.hover(uri, 9, 19)  # h, assigned a line above
            assert "f32[8, 16]" in await each.hover(uri, 9, 15)  # x, a parameter
            assert "graph input" in await each.hover(uri, 13, 22)
            assert await each.hover(uri, 1, 2) == ""  # `import torch`

    run(scenario)


def test_a_compiled_function_shows_its_compiles(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            for line, character in ((13, 10), (20, 16)):  # its name; `torch.compile`
                text = await each.hover(uri, line, character)
                assert "| 0/0 | compiled | 1 | 7 |" in text
                assert "| 0/1 | not compiled: it failed |" in text
                assert "no kernel for aten::frobnicate" in text

    run(scenario)


def test_a_call_shows_the_graphs_node(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            text = await each.hover(each.open(tmp_path / "model.py"), 7, 18)  # `norm`
            assert "| `layer_norm` | `h: f32[8, 16]` | 0/0 |" in text

    run(scenario)


def test_a_broken_line_says_why_with_a_link(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            text = await each.hover(each.open(tmp_path / "layers.py"), 5, 12)
            assert "Data-dependent branching" in text
            assert "(https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html)" in text

    run(scenario)


def test_positions_outside_of_the_text_are_harmless(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            assert await each.hover(uri, 5000, 3) == ""
            assert await each.hover((tmp_path / "missing.py").as_uri(), 1, 0) == ""

    run(scenario)


def test_what_torch_compile_is_given_is_found_in_other_files(tmp_path: Path):
    sample.write_sample(tmp_path)
    train = tmp_path / "train.py"
    train.write_text("import torch\nimport model\n\nnet = model.Model()\ncompiled = torch.compile(net, dynamic=True)\n")

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            text = await each.hover(each.open(train), 5, 18)
            assert text.startswith("In `model.py`: **`Model.forward`**") and "| 0/0 | compiled | 1 | 7 |" in text

    run(scenario)


def test_shapes_come_first_and_diagnostics_not_twice(tmp_path: Path):
    sample.write_sample(tmp_path)
    shows_them = attrs.evolve(PULLS, experimental={"diagnosticsInHovers": True})

    async def scenario() -> None:
        for capabilities, says_it in ((PULLS, True), (shows_them, False)):
            async with editor(tmp_path, capabilities=capabilities) as each:
                uri = each.open(tmp_path / "layers.py")
                assert ("Data-dependent branching" in await each.hover(uri, 5, 4)) == says_it
                text = await each.hover(uri, 5, 7)  # `h`, on the line that breaks
                assert text.startswith("**`h`** while Dynamo traced") and ("Data-dependent" in text) == says_it

    run(scenario)


USES = """
    import torch


    @torch.compile(backend="eager")
    def f(x, up, other):
        x = x.unsqueeze(0)
        if up:
            x = x.sum(-1)
        x += 1
        torch._dynamo.graph_break()
        return x * other


    f(torch.ones(3, 4), True, torch.ones(3))
    f(torch.ones(3, 4), False, torch.ones(1))
"""


def test_a_use_shows_the_value_that_is_read_in_each_compile(tmp_path: Path):
    path = program(tmp_path, "uses.py", USES)
    record(tmp_path, path.name)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(path)

            async def value(text: str, word: str) -> dict[str, str]:
                number = line_of(path, text)
                line = path.read_text().splitlines()[number - 1]
                told = await each.hover(uri, number, line.index(word))
                return dict(re.findall(r"\| `(f32.*?)` \| (\S.*?) \|", told))

            assert await value("unsqueeze", "x = ") == {"f32[1, 3, 4]": "0/0, 0/1"}
            assert await value("unsqueeze", "x.uns") == {"f32[3, 4]": "0/0, 0/1"}
            assert await value("sum", "x.sum") == {"f32[1, 3, 4]": "0/0"}
            assert await value("x += 1", "x") == {"f32[1, 3]": "0/0", "f32[1, 3, 4]": "0/1"}
            assert "not used in this graph" in await each.hover(uri, line_of(path, "def f"), 13)

    run(scenario)
