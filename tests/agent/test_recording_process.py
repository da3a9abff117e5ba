"""Programs that are recorded behave as they do plain: arguments, exit codes, tracebacks, forks, a foreign store."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.agent.program import this_process
from dynascope.agent.recorder import process
from dynascope.facts.generated import recorded
from dynascope.facts.model import hash_lines
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, FOLDER_NAME

ROOT = Path(__file__).parents[2]
COMPILES = """
import os, sys, torch
def f(x):
    return x + 1
def compiled():
    return torch.compile(f, backend="eager")(torch.ones(3))
"""


def run(folder: Path, *arguments: str, source: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(COMPILES + source)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE")}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**inherited, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
    )


def printed_in_a_terminal(folder: Path, *arguments: str) -> str:
    """What a program of the folder prints where its stdout and stderr are a terminal."""
    ours, theirs = os.openpty()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE")}
    command = [sys.executable, "-m", "dynascope", "run", *arguments]
    program = subprocess.Popen(command, env=inherited, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    with contextlib.suppress(OSError):  # EIO: it has ended
        while more := os.read(ours, 4096):
            printed += more
    os.close(ours)
    assert program.wait(60) == 0, printed
    return printed.decode().replace("\r\n", "\n")


def functions(folder: Path) -> list[str]:
    with Reader.open(folder / FOLDER_NAME / FILE_NAME) as reader:
        return [each.function for each in reader.compiles() if each.status == "compiled"]


def test_arguments_exit_code_and_folder_are_the_programs_own(tmp_path: Path):
    source = "compiled(); print(sys.argv, __name__); os.chdir('/'); sys.exit(3)"
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", "--flag", "-m", "x", source=source)
    assert (ended.returncode, ended.stderr) == (3, "")
    assert ended.stdout == "['program.py', '--flag', '-m', 'x'] __main__\n"
    assert functions(tmp_path) == ["f"]


@pytest.mark.matrix
def test_a_terminal_is_told_at_the_end_what_was_recorded(tmp_path: Path):
    (tmp_path / "program.py").write_text(COMPILES + "compiled(); os.chdir('/'); print('done')")
    done, told = printed_in_a_terminal(tmp_path, "--facts", "kept", "program.py").splitlines()
    assert done == "done" and told.startswith("dynascope: 1 compile, 1 graph, 0 graph breaks, ")
    assert told.endswith(f" backends). What to mend: dynascope report --facts {tmp_path / 'kept'}")
    assert printed_in_a_terminal(tmp_path, "-c", "1") == "dynascope: nothing was compiled\n"


def test_a_traceback_begins_in_the_program(tmp_path: Path):
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", source="raise ValueError('mine')")
    assert ended.returncode == 1
    assert "program.py" in ended.stderr and "ValueError: mine" in ended.stderr
    assert "dynascope" not in ended.stderr
    assert functions(tmp_path) == []


@pytest.mark.matrix
@pytest.mark.parametrize("edited", ["program.py", "layers.py"])
def test_facts_have_the_lines_as_imported_though_a_file_is_edited_before_it_is_traced(tmp_path: Path, edited: str):
    (tmp_path / "layers.py").write_text("def g(x):\n    return x * 2\n")
    source = f"""
from layers import g
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), {edited!r})
text = open(path).read()
open(path, "w").write("# a line\\n" + text)
torch.compile(lambda x: g(f(x)), backend="eager")(torch.ones(3))
"""
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", source=source)
    assert ended.returncode == 0, ended.stderr
    text = (tmp_path / edited).read_text().partition("\n")[2]
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        (traced,) = reader.view(str(tmp_path / edited)).sources.values()
    assert traced.line_hashes == hash_lines(text)


@pytest.mark.matrix
def test_pytest_by_its_name(tmp_path: Path):
    (tmp_path / "test_it.py").write_text("from program import compiled\ndef test_it():\n    compiled()\n")
    ended = run(tmp_path, "-m", "dynascope", "run", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert functions(tmp_path) == ["f"]
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        assert reader.runs()[0].began < reader.compiles()[0].began
        assert reader.runs()[0].program == "-m pytest -q -p no:cacheprovider test_it.py"


def test_forked_children_are_runs_of_the_same_launch(tmp_path: Path):
    source = """
compiled()
torch._dynamo.reset()
child = os.fork()
compiled()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
torch._dynamo.reset()
compiled()
"""
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", source=source)
    assert (ended.returncode, ended.stderr) == (0, "")
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        runs = reader.runs()
        assert len(runs) == 2 and len({each.launch for each in runs}) == 1
        assert all(each.ended is not None for each in runs)
        assert sorted(each.run for each in reader.compiles()) == [1, 1, 1, 2]


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_that_end_are_recorded_to_their_end(tmp_path: Path, how: str):
    source = f"""
import multiprocessing
if __name__ == "__main__":
    worker = multiprocessing.get_context("{how}").Process(target=compiled)
    worker.start()
    worker.join()
"""
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", source=source)
    assert (ended.returncode, ended.stderr) == (0, "")
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        assert len(reader.compiles()) == 1 and all(each.ended is not None for each in reader.runs())


def test_recording_on_request_of_the_environment(tmp_path: Path):
    """What the wheel's `torch.backends` entry point calls; a checkout that is not installed has no entry points."""
    source = "from dynascope.autoload import record_if_asked; record_if_asked(); compiled()"
    assert run(tmp_path, "program.py", source=source).returncode == 0
    assert not (tmp_path / FOLDER_NAME).exists()
    assert run(tmp_path, "program.py", source=source, DYNASCOPE_RECORD="1").returncode == 0
    assert functions(tmp_path) == ["f"]


def test_a_rank_is_compared_from_the_end_of_the_import_on(tmp_path: Path):
    source = "print('RankHooks' in str(process._recording._installation._ranks))"
    source = f"from dynascope.agent.recorder import process; {source}"
    done = run(tmp_path, "program.py", source=source, DYNASCOPE_RECORD="1", RANK="0", WORLD_SIZE="2")
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("option, environment", [("--no-graphs", {}), (None, {"DYNASCOPE_RECORD": "facts"})])
def test_graphs_are_left_out_where_they_are_not_wanted(tmp_path: Path, option: str | None, environment: dict[str, str]):
    source = "compiled()\nif __name__ == '__main__': os.system(f'{sys.executable} -c \"import torch, program\"')"
    options = [option] if option else []
    assert run(tmp_path, "-m", "dynascope", "run", *options, "program.py", source=source, **environment).returncode == 0
    with Reader.open(tmp_path / FOLDER_NAME / FILE_NAME) as reader:
        assert [(each.run, recorded.kinds(reader, each.id)) for each in reader.compiles()] == [(1, set()), (2, set())]


def test_a_foreign_store_stops_the_recording_and_not_the_program(tmp_path: Path):
    store = tmp_path / FOLDER_NAME / FILE_NAME
    store.parent.mkdir()
    connection = sqlite3.connect(store)
    connection.execute("CREATE TABLE theirs (id)")
    connection.close()
    content = store.read_bytes()
    ended = run(tmp_path, "-m", "dynascope", "run", "program.py", source="compiled(); print('ran on')")
    assert (ended.returncode, ended.stdout) == (0, "ran on\n")
    assert "recording has stopped" in ended.stderr and "not a store of Dynascope's" in ended.stderr
    assert store.read_bytes() == content


def test_what_cannot_be_run_is_said(tmp_path: Path):
    ended = run(tmp_path, "-m", "dynascope", "run", "missing.py")
    assert ended.returncode == 1 and "no file 'missing.py'" in ended.stderr
    assert run(tmp_path, "-m", "dynascope", "run").returncode == 2


def test_a_program_that_comes_through_a_pipe_is_read_once(tmp_path: Path):
    (tmp_path / "program.py").write_text("print('ran')\n")
    started = f"exec {sys.executable} -m dynascope.agent.session.startup.record_launcher <(cat program.py)"
    done = subprocess.run(["bash", "-c", started], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr, done.returncode) == ("ran\n", "", 0)


def test_a_worker_of_a_test_run_is_named_by_what_was_typed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(this_process, "_arguments", None)
    this_process.named_by(["-m", "pytest", "-n", "2", "a test.py"])
    assert process.run_of_this_process("a launch", 0.0).program == "-m pytest -n 2 'a test.py'"


def test_a_script_is_named_as_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(this_process, "_module", lambda: None)
    for path, named in (("a b/train.py", "'a b/train.py' -v"), ("..train.py", "..train.py -v"), ("../x.py", None)):
        whole = os.path.normpath(tmp_path / path)
        monkeypatch.setattr(sys, "argv", [whole, "-v"])
        assert this_process.program() == (named or f"{whole} -v")
