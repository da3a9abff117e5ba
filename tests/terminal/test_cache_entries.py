"""Look at the guards of compiled code at the prompt, with a real program."""

from __future__ import annotations

from pathlib import Path

from tests.support.marks import line, program
from tests.support.terminal.debugging import debug, folder

__all__ = ["folder"]

GUARDED = program("guarded.py")


def test_guards_are_checked_and_shown_with_their_costs(folder: Path) -> None:
    commands = "continue\ncontinue\nup\nguards check\nguards check 0/0\nguards 0/1\nhelp guards\ncontinue\n"
    where = f"{GUARDED}:{line(GUARDED, 'uncompiled')}"
    code, out = debug("-b", where, str(GUARDED), commands=commands)
    assert code == 0
    assert out.count("guarded [0/1]: all ") == 1
    assert out.count("guarded [0/0]: this guard fails, after ") == 2
    assert "A lookup takes " in out and "| +- GuardManager: source=L['x']" in out
    assert "as torch evaluates them at each call" in out.replace("\n", " ")


def test_filters_of_guards_are_tried(folder: Path) -> None:
    commands = (
        "continue\ncontinue\nup\nguards filters\nguards filters 0/1 skip_all_guards_unsafe\nhelp guards\ncontinue\n"
    )
    where = f"{GUARDED}:{line(GUARDED, 'uncompiled')}"
    code, out = debug("-b", where, str(GUARDED), commands=commands)
    assert code == 0
    assert "guarded [0/1]: what is left of its guards" in out and "  keep_tensor_guards_unsafe\n" in out
    assert "guarded [0/1]: with skip_all_guards_unsafe 0 of " in out
    assert f"\nscale must be 2 (guarded.py:{line(GUARDED, 'traced')} needs this)\n" in out
    assert "what could change then without a recompile" in out.replace("\n", " ")


def test_guards_are_saved_on_trial(folder: Path) -> None:
    commands = "continue\ncontinue\nup\nguards saved\nguards saved 0/1 aot_compile\nhelp guards\ncontinue\n"
    where = f"{GUARDED}:{line(GUARDED, 'uncompiled')}"
    code, out = debug("-b", where, str(GUARDED), commands=commands)
    assert code == 0
    assert out.count("guarded [0/1]: what torch would save of its guards") == 2
    assert f"\nscale must be 2 (guarded.py:{line(GUARDED, 'traced')} needs this)\n" in out
    assert "could save and load again" in out.replace("\n", " ")


def test_why_it_is_compiled_again(folder: Path) -> None:
    code, out = debug("--catch", "recompile", str(GUARDED), commands="why\nhelp why\ncontinue\n")
    assert code == 0
    assert "`why` at the prompt or in the debug console." in out
    assert "guarded is compiled again [0/1]:\n0/0: x.size()[0] must be 3, and is 4 (guarded.py:" in out
    assert "tried: with `torch._dynamo.mark_dynamic(x, 0)`, x.size()[0] is dynamic in " in out
    assert "on the side with each" in out.replace("\n", " ")
