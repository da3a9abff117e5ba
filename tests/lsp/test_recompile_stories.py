"""What a recompile is told with beside its guards: the line that asked, the call, what differs, what runs now."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, page, program, record, report

PROGRAM = """
    import contextlib
    import torch


    def compiled(**options):
        return torch.compile(backend="eager", dynamic=False, **options)


    @compiled()
    def scaled(x, scale, *rest, bias=None):
        y = x + 1
        return y * scale


    @compiled()
    def limited(x, name):
        return x + len(name)


    @compiled()
    def optional(x, **options):
        return x * len(options)


    @compiled(fullgraph=True)
    def strict(x, name):
        return x - len(name)


    def train(x, *rest, **more):
        return scaled(x, *rest, **more)


    train(torch.ones(3), 2)
    train(torch.ones(4), 5, 7, bias=torch.ones(1))
    optional(torch.ones(3), scale=2, mask=None)
    optional(torch.ones(3), scale=3, bias=1, step=1)
    for number in range(10):
        limited(torch.ones(2), "n" * number)  # refused
    for number in range(10):
        with contextlib.suppress(Exception):
            strict(torch.ones(2), "n" * number)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = program(tmp_path_factory.mktemp("stories"), "stories.py", PROGRAM)
    record(path.parent, path.name)
    return path


def expected(path: Path) -> dict[str, str]:
    """The stories by function, as regular expressions."""
    refused, when = f"It was called at stories.py:{line_of(path, '# refused')} in <module>. ", r"\d+\.\d s"
    return {
        "scaled": f"It was called at stories.py:{line_of(path, 'return scaled')} in train. "
        r"Arguments since 0/0: scale was 2, and is 5; bias was None, and is f32\[1\]; rest was tuple of 0, and is "
        r"tuple of 1\.",
        "optional": r"Arguments since 1/0: scale was 2, and is 3; mask was passed, and is not; bias was not passed, "
        r"and is; step was not passed, and is\.",
        "limited": f"{refused}Since this call, {when} after the program began, a call that fits none of these compiles "
        r"runs uncompiled, until torch\._dynamo\.reset\(\).",
        "strict": f"This call, {when} after the program began, raised an error instead, as does each call that "
        "fits none of these compiles.",
    }


def test_the_report_tells_the_whole_story(recorded: Path) -> None:
    text = report(recorded.parent)
    for function, story in expected(recorded).items():
        (paragraph,) = re.findall(rf"Recompile .* {function}  .*\n(?:  .*\n)+", text)
        assert re.search(story, paragraph), paragraph
    (scaled,) = re.findall(r"Recompile .* scaled  .*\n(?:  .*\n)+", text)
    assert f"the guard is from stories.py:{line_of(recorded, 'y = x + 1')}" in scaled


def test_the_page_and_json_tell_the_same(recorded: Path) -> None:
    shown = html.unescape(page(recorded.parent)).replace("<br>", " ")
    told = json.loads(report(recorded.parent, "--json", "--all"))["compiles"]
    stories = [" ".join(each["story"]) for each in told if "story" in each]
    for story in expected(recorded).values():
        assert re.search(story, shown)
        assert any(re.search(story, each) for each in stories), stories
    first = next(each for each in told if each["name"] == "0/0")
    arguments = [["x", "f32[3]"], ["scale", "2"], ["bias", "None"], ["rest", "tuple of 0"]]
    assert first["call"]["arguments"] == arguments and first["call"]["line"] == line_of(recorded, "return scaled")


def test_the_editor_tells_the_same(recorded: Path) -> None:
    async def scenario() -> None:
        async with editor(recorded.parent) as each:
            found = [d for d in await each.diagnostics(each.open(recorded)) if str(d.code).startswith("recompile")]
            for function, story in expected(recorded).items():
                (diagnostic,) = [d for d in found if f": {function}" in d.message.partition("\n")[0]]
                assert re.search(story, diagnostic.message), diagnostic.message

    run(scenario)
