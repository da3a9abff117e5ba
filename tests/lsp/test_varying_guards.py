"""Guards that will not hold are told in the editor, the report and its page, until a recompile tells it."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, page, program, record, report

PROGRAM = """
    import sys
    import torch


    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 2

        def forward(self, x):
            self.step += 1
            return x * self.step


    model = torch.compile(Model(), backend="eager")
    for _ in range(int(sys.argv[1])):
        model(torch.ones(3))
"""
SENTENCE = (
    "self.step must be 2, and the call itself makes it 3: the next call is compiled again, unless something sets it "
    "back."
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = program(tmp_path_factory.mktemp("varying"), "counting.py", PROGRAM)
    record(path.parent, path.name, "1")
    return path


def test_the_report_tells_it(recorded: Path) -> None:
    text = report(recorded.parent)
    assert f"Will be compiled again counting.py:{line_of(recorded, 'self.step += 1')} in Model.forward" in text
    assert SENTENCE in text and "hint Keep it in a tensor, whose values are not guarded" in text
    assert SENTENCE in html.unescape(page(recorded.parent))
    (compile,) = json.loads(report(recorded.parent, "--json", "--all"))["compiles"]
    (told,) = compile["varying_guards"]
    assert (told["kind"], told["value"], told["others"]) == ("set", "2", ["3"])


def test_the_editor_tells_it_on_the_line(recorded: Path) -> None:
    async def scenario() -> None:
        async with editor(recorded.parent) as each:
            found = await each.diagnostics(each.open(recorded))
            (diagnostic,) = [one for one in found if one.code == "recompile"]
            assert diagnostic.range.start.line == line_of(recorded, "self.step += 1") - 1
            assert diagnostic.message.splitlines()[:2] == [
                "Model.forward will be compiled again: self.step will not be 2",
                SENTENCE,
            ]

    run(scenario)


def test_after_the_recompile_that_tells_it(tmp_path: Path) -> None:
    path = program(tmp_path, "counting.py", PROGRAM)
    record(path.parent, path.name, "2")
    text = report(path.parent)
    assert "because of self.step: made for 2, met 3" in text and "self.step must be 2" not in text
    assert "self.step must be 3, and the call itself makes it 4" in text
