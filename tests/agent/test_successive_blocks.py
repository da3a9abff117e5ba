"""Blocks that follow each other, as the pytest plugin records tests: each has its own compiles, the hooks stay."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.in_process.successive import SuccessiveBlocks

X = torch.ones(3)
TORCH = tuple(map(int, torch.__version__.split(".")[:2]))


@pytest.fixture
def blocks() -> Iterator[SuccessiveBlocks]:
    torch._dynamo.reset()
    blocks = SuccessiveBlocks()
    yield blocks
    blocks.remove()


def sized(x: Any) -> Any:
    return x.sum() * x.shape[0]


def without_tensors(number: int) -> int:
    return number + 1


def asking(x: Any) -> Any:
    for _ in range(2):
        torch._dynamo.graph_break()
    return x * without_tensors(1)


def test_each_block_has_its_own_compiles_and_what_is_between_them_is_in_none(blocks: SuccessiveBlocks):
    function = torch.compile(sized, backend="eager")
    with blocks.block() as first:
        function(torch.ones(3))
    torch.compile(asking, backend="eager")(X)
    with blocks.block() as second:
        function(torch.ones(4))
    with blocks.block() as third:
        function(torch.ones(4))
    assert [each.name for each in first.compiles] == ["0/0"] and not first.recompiles
    assert [each.name for each in second.compiles] == ["0/1"]
    assert [each.compiles for each in second.recompiles] == [["0/1"]]
    assert third.compiles == [] and third.counts()["compiles"] == 0


def test_a_skipped_frame_is_told_in_each_block(blocks: SuccessiveBlocks):
    told = []
    for _ in range(2):
        torch._dynamo.reset()
        with blocks.block() as trace:
            torch.compile(asking, backend="eager")(X)
        told.append([each.function for each in trace.compiles])
    assert "asking" in told[0] and told[0] == told[1]
    assert ("without_tensors" in told[0]) == (TORCH >= (2, 13)), "2.11 and 2.12 do not ask about it"


def test_a_compile_that_began_before_the_block_is_in_none(blocks: SuccessiveBlocks):
    begun, go_on = threading.Event(), threading.Event()

    def waiting(module: Any, inputs: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return module

    with blocks.block() as first:
        thread = threading.Thread(target=torch.compile(sized, backend=waiting), args=(X,))
        thread.start()
        assert begun.wait(60)
    with blocks.block() as second:
        go_on.set()
        thread.join()
    assert first.compiles == second.compiles == []


def test_no_hook_stays_after_the_last(blocks: SuccessiveBlocks):
    from torch._dynamo import convert_frame

    installed = convert_frame._compile
    with blocks.block():
        pass
    assert convert_frame._compile is installed
    blocks.remove()
    assert convert_frame._compile is not installed
