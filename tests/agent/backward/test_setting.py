"""The setting `compiledAutograd`: on for the program, and afterwards as it was found."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from dynascope import compiled_autograd
from dynascope.agent.backward.backward_breakpoints import CompiledAutograd
from dynascope.terminal import command
from dynascope.terminal.program import DebuggedProgram

from tests.support.backward.engine_state import OFF, state

pytestmark = pytest.mark.second_leg


def backward() -> torch.Tensor:
    leaf = torch.ones(3, requires_grad=True)
    leaf.sin().sum().backward()
    assert leaf.grad is not None
    return leaf.grad


def when_on(setting: CompiledAutograd, backend: str) -> None:
    """Begin, and wait for the thread that turns it on: torch is imported here already."""
    before = set(threading.enumerate())
    setting.begin(backend)
    for thread in set(threading.enumerate()) - before:
        thread.join(60)


def test_it_is_on_until_the_session_ends():
    setting = CompiledAutograd(lambda message: None)
    expected = backward()
    when_on(setting, "eager")
    try:
        with compiled_autograd.record() as runs:
            assert torch.equal(backward(), expected)
            with compiled_autograd.disable():
                backward()
        assert len(runs) == 1 and runs[0].captured
    finally:
        setting.end()
    assert state() == OFF


def test_it_puts_back_what_the_program_had_turned_on():
    with compiled_autograd.enable(lambda graph: graph):
        found = state()
        setting = CompiledAutograd(lambda message: None)
        when_on(setting, "eager")
        setting.end()
        assert state() == found
    assert state() == OFF


def test_a_backend_that_torch_does_not_know_leaves_it_off():
    said: list[Any] = []
    setting = CompiledAutograd(said.append)
    when_on(setting, "nonsense")
    assert state() == OFF
    assert "no backend 'nonsense'" in said[0].output and "inductor" in said[0].output
    setting.end()


@pytest.mark.parametrize(
    ("words", "backend"),
    [(["--compiled-autograd"], "inductor"), (["--compiled-autograd=eager"], "eager"), ([], None)],
)
def test_the_prompt_takes_it_before_the_program(
    words: list[str], backend: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[DebuggedProgram] = []
    monkeypatch.setattr("dynascope.terminal.prompt.debug_program", lambda program, *more: seen.append(program) or 0)
    monkeypatch.setattr("signal.signal", lambda *handler: None)
    result = CliRunner().invoke(command.debug, [*words, "--command", "run", __file__, "--compiled-autograd"])
    assert result.exit_code == 0, result.output
    assert (seen[0].target, seen[0].arguments) == (__file__, ("--compiled-autograd",))
    assert seen[0].compiled_autograd == backend
