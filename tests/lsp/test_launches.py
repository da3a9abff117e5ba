"""What the report says of a launch as a whole: failed compiles, no compiles at all, several processes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.lsp.editor import editor, run
from tests.lsp.recording import line_of, page, program, record, report

FAILS = """
    import torch

    TABLE = torch.ones(64, 8)


    def encode(x):
        return x + TABLE


    x = torch.ones(64, 8)
    torch._dynamo.mark_dynamic(x, 0)
    try:
        torch.compile(encode, backend="eager")(x)
    except Exception as error:
        print(type(error).__name__)
"""
NOTHING = """
    import torch

    print(torch.ones(2).sum())
"""
RANKS = """
    import os

    import torch


    @torch.compile(backend="eager", dynamic=False)
    def step(x):
        return x.sum()


    rank = int(os.environ["RANK"])
    for size in range(2, 4 + rank):
        step(torch.ones(size, rank + 1))
"""


def test_a_failed_compile_is_told_first(tmp_path: Path):
    path = program(tmp_path, "fails.py", FAILS)
    record(tmp_path, path.name)
    text = report(tmp_path)
    assert "No graph breaks" not in text and "1 compile, 1 failed, 0 graphs" in text
    line = line_of(path, "return x +")
    assert f"Failed compile fails.py:{line} encode  [0/0]\n  ConstraintViolationError: " in text
    html = page(tmp_path)
    assert "Failed compiles" in html and "ConstraintViolationError" in html and "None." not in html


def test_the_newest_launch_is_shown_though_it_compiled_nothing(tmp_path: Path):
    record(tmp_path, program(tmp_path, "fails.py", FAILS).name)
    record(tmp_path, program(tmp_path, "nothing.py", NOTHING).name)
    text = report(tmp_path)
    assert text.startswith("nothing.py ") and "Nothing was compiled: " in text and "ConstraintViolation" not in text
    newest, older = report(tmp_path, "--launches").splitlines()
    assert newest.endswith("\tnothing.py  (nothing was compiled)") and older.endswith("\tfails.py")
    assert "Nothing was compiled" in page(tmp_path)
    assert "ConstraintViolationError" in report(tmp_path, "--launch", older.partition("\t")[0])


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = program(tmp_path_factory.mktemp("ranks"), "ranks.py", RANKS)
    record(path.parent, "torchrun", "--standalone", "--nproc-per-node", "2", path.name)
    return path


def test_ranks_are_told_apart_and_all_are_counted(ranks: Path):
    text = report(ranks.parent)
    assert text.startswith("-m torch.distributed.run") and "ranks 0, 1" in text
    assert "5 compiles, 5 graphs, 0 graph breaks, 3 recompiles for 1 cause" in text
    listed = [sorted(ids.split(", ")) for ids in re.findall(r"\[(rank [^\]]+)\]", text)]  # in whichever order they came
    assert ["rank 0: 0/1", "rank 1: 0/1", "rank 1: 0/2"] in listed
    names = [each["name"] for each in json.loads(report(ranks.parent, "--json", "--all"))["compiles"]]
    assert sorted(names) == ["rank 0: 0/0", "rank 0: 0/1", "rank 1: 0/0", "rank 1: 0/1", "rank 1: 0/2"]


def test_hovers_name_the_rank(ranks: Path):
    async def scenario() -> None:
        async with editor(ranks.parent) as each:
            hover = await each.hover(each.open(ranks), line_of(ranks, "def step"), 6)
            assert "rank 0: 0/1" in hover and "rank 1: 0/2" in hover

    run(scenario)
