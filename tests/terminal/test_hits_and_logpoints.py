"""Hit conditions and logpoints at the prompt, with a real program."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.terminal import locations
from dynascope.terminal.locations import BadLocation, When, parse

from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

LOOP = """\
import torch


def body(x, i):
    return x + i


@torch.compile(backend="eager")
def loop(x):
    for i in range(6):
        x = body(x, i)
    return x


loop(torch.ones(3))
"""
COMMANDS = """\
break --hit ">= 5" loop.py:5
break --log "pass {i} of {x.shape[0]}" loop.py:11, i > 3
break --log "all {i}" body
tbreak --log "x" loop.py:5
watch --hit 2 x
breakpoints
run
p i
continue
clear 3
continue
breakpoints
quit
"""


def test_hit_conditions_and_logpoints(folder: Path) -> None:
    (folder / "loop.py").write_text(LOOP)
    _, out = debug("-b", "--hit 3 body", "loop.py", commands=COMMANDS)
    assert "breakpoint 1 at body, at hits 3 (pending)" in out
    assert "breakpoint 2 at loop.py:5, at hits >= 5 (pending)" in out
    assert 'logpoint 3 at loop.py:11 if i > 3, logs "pass {i} of {x.shape[0]}" (pending)' in out
    assert "*** `--log` is for lines" in out
    assert "*** a logpoint does not stop" in out
    assert "watch 4 on x, at hits 2 (pending)" in out
    _, after = out.split("(dynascope) run")
    assert "Its hits count over all compiles, and when it runs uncompiled." in after
    assert "body [0/0]  loop.py:5  (breakpoint 1)" in after.partition("(dynascope) p i")[0]
    assert after.partition("(dynascope) p i")[2].lstrip().startswith("2")
    assert "pass 4 of 3" in after and "pass 3 of 3" not in after
    assert "loop.py:5  (breakpoint 2)" in after
    assert "never hit" not in after.lower()


@pytest.mark.parametrize(
    ("typed", "when", "rest"),
    [
        ("--hit 3 m.py:3", When(hit_condition="3"), "m.py:3"),
        ('--hit ">= 3" --mode run m.py:3, x', When(hit_condition=">= 3"), "--mode run m.py:3, x"),
        ("--hit % 2 f", When(hit_condition="% 2"), "f"),
        ("--mode run --hit=5 m.py:3", When(hit_condition="5"), "--mode run m.py:3"),
        ("""--log "{x['a']}, \\"b\\"" m.py:3, x > 1""", When(log_message="{x['a']}, \"b\""), "m.py:3, x > 1"),
        ("--log 'a b' --hit 5 m.py:3", When(hit_condition="5", log_message="a b"), "m.py:3"),
        ("m.py:3, x == '--hit 3'", When(), "m.py:3, x == '--hit 3'"),
    ],
)
def test_options_before_the_place(typed: str, when: When, rest: str) -> None:
    assert locations.split_options(typed) == (when, rest)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("--hit often f", "needs a number"),
        ("--hit 'often' f", "is not a hit condition"),
        ("--log x f", "a text in quotes"),
        ("--lag f", "there are --mode, --hit, --log"),
    ],
)
def test_options_that_mean_nothing_say_so(typed: str, complaint: str) -> None:
    with pytest.raises(BadLocation, match=complaint):
        locations.split_options(typed)


def test_a_logpoint_is_of_a_line() -> None:
    with pytest.raises(BadLocation, match="is for lines"):
        locations.check_options(When(log_message="x"), parse("f", None)[0])


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("--", ["--mode", "--hit", "--log"]),
        ("--l", ["--log"]),
        ("--mode r", ["run"]),
        ("--hit 3 --m", ["--mode"]),
        ("--hit 3 model", []),
        ("model", []),
    ],
)
def test_options_complete(typed: str, offered: list[str]) -> None:
    assert locations.completed_options(typed) == offered
