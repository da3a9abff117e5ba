"""Of nested graph breaks the cause comes first: in the report, on the page, in diagnostics and hovers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, page, program, record, report

PROGRAM = """
    import contextlib
    import torch

    @contextlib.contextmanager
    def named(name):
        yield

    @torch.compile(backend="eager")
    def scaled(x):
        with named("scale"):
            y = x + 1
            return y * y.sum().item()

    @torch.compile(backend="eager")
    def halved(x):
        for _ in range(3):
            if x.sum() > 1:
                x = x / 2
        return x

    scaled(torch.ones(3))
    halved(torch.ones(3))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = program(tmp_path_factory.mktemp("nested"), "nested.py", PROGRAM)
    record(path.parent, path.name)
    return path


def test_the_report_names_the_cause_and_then_what_it_led_to(recorded: Path):
    text = report(recorded.parent)
    wanted = ["Graph break GB0124", "Unsupported Tensor.item()", "capture_scalar_outputs", "led to GB0066"]
    places = [text.index(each) for each in wanted]
    assert places == sorted(places), text
    wanted = ["Graph break GB0170", "Data-dependent branching", "led to GB7000 graph break in loop"]
    places = [text.index(each) for each in wanted]
    assert places == sorted(places), text
    assert "may have been caused by an earlier graph break" not in text


def test_the_page_does_so_too(recorded: Path):
    html = page(recorded.parent)
    assert html.index("GB0124") < html.index("GB0066")
    assert html.index("Data-dependent branching") < html.index("graph break in loop")


def test_diagnostics_and_hovers_do_so_too(recorded: Path):
    line = line_of(recorded, "if x.sum() > 1")

    async def scenario() -> None:
        async with editor(recorded.parent) as each:
            uri = each.open(recorded)
            found = {d.range.start.line + 1: d for d in await each.diagnostics(uri) if str(d.code).startswith("GB")}
            assert {d.code for d in found.values()} == {"GB0124", "GB0170"}
            message = found[line].message
            assert message.startswith("Graph break: Data-dependent branching")
            assert "It led to another break, GB7000 graph break in loop" in message
            hover = await each.hover(uri, line, 12)
            assert 0 < hover.index("Data-dependent branching") < hover.index("graph break in loop")

    run(scenario)
