"""Hover: shapes of a name with their symbols, compiles of a function, what a diagnostic says, at any position."""

from __future__ import annotations

from pathlib import Path

from tests.lsp.editor import editor, run
from tests.support.facts import sample


def test_a_local_shows_one_row_per_value_with_its_symbols(tmp_path: Path):
    sample.write_sample(tmp_path)

    async def scenario() -> None:
        async with editor(tmp_path) as each:
            uri = each.open(tmp_path / "model.py")
            text = await each.hover(uri, 7, 8)
            assert "| `f32[8, 16]` | 0/0 | node `layer_norm` |" in text
            assert "| `f32[s77, 16]` | 0/1 |" in text
            assert "`s77` = 12 in [2, oo], from `L['x'].size()[0]`" in text

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
                assert "| 0/1 | failed |" in text
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
