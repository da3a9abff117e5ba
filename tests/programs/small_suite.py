"""A suite of tests that compile, for the pytest plugin; the name keeps it from being collected with ours."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch


@torch.compile(backend="eager")
def broken(x):
    torch._dynamo.graph_break()
    return x + 1


@torch.compile(backend="eager")
def whole(x, by):
    return x * by


@pytest.mark.dynascope(graph_breaks=0)
def test_breaks():
    broken(torch.ones(3))


@pytest.mark.dynascope(graph_breaks=1)
def test_breaks_once():
    broken(torch.ones(3))


@pytest.mark.dynascope(graph_breaks=1, reset=False)
def test_compiled_before():
    broken(torch.ones(3))


@pytest.mark.dynascope(graph_breaks=0, recompiles=0, graphs=1)
def test_is_whole():
    whole(torch.ones(3), 2)


@pytest.mark.dynascope(graph_breaks=0, recompiles=0)
def test_is_compiled_again():
    whole(torch.ones(3), 2)
    whole(torch.ones(3), 3)


def test_unmarked():
    torch._dynamo.reset()
    broken(torch.ones(3))


def test_asks_for_the_trace(dynascope_trace):
    torch._dynamo.reset()
    broken(torch.ones(3))
    assert len(dynascope_trace.breaks) == 1


@pytest.mark.dynascope(graph_brakes=0)
def test_misspelt():
    pass


@pytest.mark.dynascope(graph_breaks="none")
def test_is_no_number():
    pass


@pytest.mark.dynascope(graph_breaks=0, recompiles=0)
class TestOfAClass:
    @pytest.mark.dynascope(graph_breaks=1)
    def test_has_the_marks_of_both(self):
        broken(torch.ones(3))
        whole(torch.ones(3), 2)
        whole(torch.ones(3), 3)


@pytest.mark.dynascope(graph_breaks=0)
def test_fails_by_itself():
    broken(torch.ones(3))
    raise ValueError("its own")


BROKEN = """
import torch
def broken(x):
    torch._dynamo.graph_break()
    return x + 1
torch.compile(broken, backend="eager")(torch.ones(3))
"""


@pytest.mark.dynascope(graph_breaks=0)
def test_starts_a_program():
    subprocess.run([sys.executable, "-c", BROKEN], check=True)


@pytest.mark.dynascope(graph_breaks=1)
def test_starts_a_program_that_may_break():
    before = dict(os.environ)
    subprocess.run([sys.executable, "-c", BROKEN], check=True)
    assert os.environ == before
