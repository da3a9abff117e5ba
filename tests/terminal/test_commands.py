"""The prompt's commands against an adapter that plays a script (`fake_adapter.py`)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dynascope.terminal import debuggee
from dynascope.terminal.printing import VALUE_LENGTH, Printer, shorten
from dynascope.terminal.program import DebuggedProgram
from dynascope.terminal.prompt import debug_program
from dynascope.wire.dap import Thread

from tests.support.terminal import fake_adapter

FAKE = Path(fake_adapter.__file__)


@pytest.fixture
def debug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    """`debug(commands, scenario)`: the exit code and what was printed."""
    program = tmp_path / "program.py"
    program.write_text("one = 1\ntwo = 2\nthree = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(commands: str, scenario: str = "plain", breakpoints: tuple[str, ...] = ()) -> tuple[int, str]:
        monkeypatch.setattr(debuggee, "ADAPTER", (sys.executable, str(FAKE), scenario))
        code = debug_program(
            DebuggedProgram("program", str(program)), breakpoints, (), commands.splitlines(), share_stdin=False
        )
        return code, capfd.readouterr().out

    return run


def test_a_run_from_breakpoint_to_exit_code(debug):
    code, out = debug("run\nwhere\ncontinue", breakpoints=("program.py:2",))
    assert code == 3
    assert "● compile time  f [0/0]  program.py:2  (breakpoint 1)" in out
    assert "->B2  two = 2" in out
    assert "> #0  f [0/0]" in out
    assert out.index("── the running program ──") < out.index("#1  <module>")
    assert out.index("to line 2") < out.index("● compile time")
    assert "program.py ended with exit code 3" in out
    assert "unseen" not in out


def test_without_commands_the_program_runs_to_its_end(debug):
    code, out = debug("", breakpoints=("2",))
    assert code == 3
    assert "● compile time" not in out.partition("to line 2")[0]


def test_a_command_that_needs_a_stop_runs_to_one(debug):
    _, out = debug("locals\nquit")
    assert "f32[s0, 16]" in out


def test_quit_ends_the_program_and_is_no_failure(debug):
    assert debug("run\nquit\nwhere")[0] == 0


def test_rows_and_what_is_inside(debug):
    _, out = debug("guards\nguards tensor\nexpand Guards/L['a/b'] 0:2\nexpand x\nexpand Guards/nothing\nquit")
    assert "EQUALS_MATCH" in out.partition("guards tensor")[0]
    assert "EQUALS_MATCH" not in out.partition("guards tensor")[2].partition("expand")[0]
    assert "[1]" in out.partition("0:2\n")[2].partition("expand x")[0]
    assert "expand … 100:200" in out
    assert "there is no `nothing` below `Guards`" in out


@pytest.mark.parametrize("frame", [0, 1])
def test_slices_count_elements_and_not_attributes(debug, frame: int):
    _, out = debug(f"frame {frame}\nexpand big 100:103\nexpand big 199:202\nexpand big 248:260\nquit")
    numbers = [
        [int(row.split()[1]) for row in part.splitlines() if row.startswith("  ") and row.split()[1].isdecimal()]
        for part in out.split("(dynascope) expand")[1:]
    ]
    assert numbers == [[100, 101, 102], [199, 200, 201], [248, 249]]


def test_without_a_slice_the_attributes_come_too_and_no_element_is_lost(debug):
    _, out = debug("expand big\nquit")
    assert "ListVariable" in out and "[99]" in out and "[100]" not in out
    assert "expand … 100:200" in out


def test_commands_of_the_console_are_asked_so_that_they_are_no_python(debug):
    _, out = debug("what if n = 8\nwhat n = 8\nwhat if_x = 3\nwhat\nwhy\nforms from 3\nquit")
    assert out.count("<what if n = 8?>") == 2 and "<what if if_x = 3?>" in out and "<what if?>" in out
    assert "<why?>" in out and "program.py:3?>" in out


def test_a_scope_the_frame_has_not(debug):
    _, out = debug("up\nshapes\nquit")
    assert "`<module>` has no Shapes (the program runs here; Dynamo is not tracing)" in out


def test_a_node_of_a_backward_has_other_scopes_than_locals(debug):
    _, out = debug("locals\nquit", "backward")
    assert "has no Locals (Dynamo keeps none here); it has Inputs, Graph: `expand Inputs`" in out
    _, out = debug("inputs\nquit", "backward")
    assert "has no Inputs" not in out and "there is no command" not in out


def test_a_breakpoint_in_the_place_of_another_says_what_that_was(debug):
    _, out = debug(
        'break --hit "% 2" program.py:2\nbreak program.py:2, one == 1\nbreak program.py:2\nbreak program.py:2\nquit'
    )
    assert "There is one breakpoint to a place: it was, at hits % 2." in out
    assert "it was if one == 1." in out
    assert out.count("one breakpoint to a place") == 2


def test_expressions(debug):
    _, out = debug("print x + 1\n!x\nprint nonsense\nprint\nquit")
    assert "<x + 1>" in out
    assert "<x>" in out
    assert "*** NameError: name 'nonsense' is not defined" in out
    assert "*** print what?" in out


def test_frames(debug):
    _, out = debug("up\nup\ndown\ndown\nframe 1\nframe x\nquit")
    assert "oldest frame" in out
    assert "newest frame" in out
    assert "give a number, not `x`" in out


def test_source_lines(debug):
    _, out = debug("run\nlist 1,2\nlist .\nlist\nlonglist\nquit")
    assert out.count("one = 1") >= 3


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("brake", "`break`"), ("gards", "`guards`"), ("th", "`thread` or `threads`"), ("xyzzy", "`help` lists")],
)
def test_unknown_commands_suggest_the_nearest(debug, typed: str, hint: str):
    _, out = debug(f"{typed} now\nquit")
    assert f"there is no command `{typed}`" in out
    assert hint in out


def test_a_beginning_that_only_one_command_has_is_enough(debug):
    assert "TENSOR_MATCH" in debug("guar\nquit")[1]


def test_breakpoints_are_listed_moved_switched_and_cleared(debug):
    _, out = debug("b 2\ntb 3, two > 1\nbreakpoints\ndisable 1\nenable 1\nclear 1\nclear 9\nclear\nbreakpoints\nquit")
    assert "breakpoint 1 at program.py:2 (pending)" in out
    assert "temporary breakpoint 2 at program.py:3 if two > 1 (pending)" in out
    assert "breakpoint 1 cleared: program.py:2" in out
    assert "there is no breakpoint 9" in out
    assert "no breakpoints" in out


def test_a_temporary_breakpoint_goes_when_hit(debug):
    _, out = debug("tbreak 2\nrun\nbreakpoints\nquit")
    assert "(breakpoint 1)" in out
    assert "no breakpoints" in out


def test_help_names_every_command(debug):
    _, out = debug("help\nhelp break\nhelp nothing\nquit")
    for word in ("continue", "next", "step", "out", "where", "guards", "shapes", "graph", "expand", "restart"):
        assert f"  {word}" in out
    assert "CONDITION is a Python expression" in " ".join(out.split())
    assert "there is no command `nothing`" in out


@pytest.mark.parametrize("again", ["continue", "run"])
def test_only_restart_runs_an_ended_program_again(debug, again: str):
    code, out = debug(f"continue\ncontinue\ncontinue\n{again}\n{again}")
    assert code == 3
    assert out.count("to line 2") == 1
    assert out.count("*** the program has ended; `restart` runs it again") == 2
    assert debug("continue\ncontinue\ncontinue\nrestart")[1].count("to line 2") == 2


@pytest.mark.parametrize("typed", ["print", "p", "!", "expand", "thread"])
def test_a_command_without_its_argument_does_not_run_the_program(debug, typed: str):
    _, out = debug(f"{typed}\nquit")
    assert "what?" in out or "which?" in out
    assert "to line 2" not in out


def test_a_temporary_breakpoint_keeps_the_condition_below_it(debug):
    _, out = debug("break 2, one > 5\ntbreak 2\nrun\nbreakpoints\nquit")
    assert "breakpoint 1 at program.py:2 if one > 5, once without condition (pending)" in out
    assert "breakpoint 1 at program.py:2 if one > 5 (verified)" in out.partition("(dynascope) breakpoints")[2]


def test_a_function_breakpoint_has_its_mark(debug, tmp_path: Path):
    (tmp_path / "program.py").write_text('def f():\n    """Doc."""\n    return 1\n')
    _, out = debug("run\nlist 1,3\nquit", breakpoints=("f",))
    assert "  B3      return 1" in out.partition("list 1,3")[2]


def test_restart_keeps_breakpoints(debug):
    code, out = debug("run\ncontinue\ncontinue\nnext\nrestart\nquit", breakpoints=("2",))
    assert code == 0
    assert out.count("(breakpoint 1)") == 2
    assert "*** the program has ended; `restart` runs it again" in out


def test_comments_are_headings_and_commands_are_echoed(debug):
    _, out = debug("# Look here.\nrun\n\nquit")
    assert out.startswith("# Look here.\n(dynascope) run\n")


def test_a_refused_launch_says_why(debug):
    code, out = debug("run", "refuses")
    assert code == 1
    assert "program.py did not start: no interpreter there" in out


@pytest.mark.parametrize(("scenario", "words"), [("dies", "out of luck"), ("mute", "cannot import name 'adapter'")])
def test_an_adapter_that_dies_is_quoted(debug, scenario: str, words: str):
    code, out = debug("run", scenario)
    assert code == 1
    assert words in out


def test_a_thread_continued_alone_leaves_the_other_stopped(debug):
    _, out = debug("run\nthreads\nthread 9\nthread 2\ncontinue\nquit", "two threads")
    assert "there is no thread 9" in out
    assert out.count("● compile time") == 2  # the first stop, and thread 1 again once thread 2 goes on
    assert "● run time  <module>" in out


def test_of_a_long_value_both_ends_are_shown():
    deep = "._modules".join(f"['layer{number}']" for number in range(30))
    rows = [shorten(f"guard TYPE_MATCH L['self']{deep}.{name}_proj") for name in "qk"]
    assert rows[0] != rows[1] and all(len(row) == VALUE_LENGTH for row in rows)
    assert rows[0].startswith("guard TYPE_MATCH L['self']['layer0']") and rows[0].endswith("['layer29'].q_proj")
    assert shorten("two\nlines") == "two⏎lines"


def test_code_without_a_text_is_said_to_have_none(debug):
    _, out = debug("run\nlist\nlonglist\nup\nlist\nquit", "no source")
    assert out.count("*** the source of <generated f> is not known; `disassemble` shows its bytecode\n") == 2
    assert "*** the source of <generated f> is not known\n" in out


def test_numbers_of_threads_stand_apart_from_their_names(capsys: pytest.CaptureFixture[str]):
    """Without debugpy a thread has the number that the system gives it."""
    Printer().threads([Thread(id=280341, name="MainThread"), Thread(id=7, name="worker")], 7, [7])
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "  280341  MainThread",
        "> 7       worker  stopped",
    ]


def test_a_stop_before_the_response_is_not_lost(debug):
    code, out = debug("run\nnext\nnext", "late")
    assert "● compile time  f [0/0]  program.py:3" in out
    assert code == 3


def test_a_location_nobody_has_ends_the_command(debug):
    code, out = debug("run", breakpoints=("nowhere.py:1",))
    assert code == 1
    assert "there is no file nowhere.py" in out
