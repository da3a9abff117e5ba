"""`dynascope mcp`, asked by a client of the protocol as an agent asks it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import anyio
import psutil
import pytest

pytest.importorskip("torch")
pytest.importorskip("mcp")

from tests.support.dap.client import adapter_environment
from tests.support.mcp_client import found, server

BREAKING = """
import torch

@torch.compile(backend="eager")
def scaled(x):
    y = x * 2
    print("mean")
    return y + 1

scaled(torch.ones(3))
"""
WAITING = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"


def test_a_break_is_recorded_explained_and_mended(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server(tmp_path) as call:
            assert "Call record(command) first" in await call("problems")
            told = await call("record", command="model.py")
            assert "model.py ended with exit code 0; last output:\n  | mean\n" in told
            assert "model.py:7 Graph break at print(): " in told
            problem = found(r"Next: explain\('(\S+)'\)", told)
            assert problem in await call("problems")
            explained = await call("explain", id=problem)
            assert "hint " in explained and 'print("mean")' in explained and "compare()" in explained
            assert "return" in await call("show", compile="0/0", what="graph")
            assert "No compile 7/7 is recorded" in await call("show", compile="7/7", what="graph")
            assert "has one recorded launch" in await call("compare")
            path.write_text("\n\n" + BREAKING.replace('    print("mean")\n', ""))
            assert "Graph break" not in await call("record", command="model.py")
            compared = await call("compare")
            assert re.search(rf"^mended  {problem}  ", compared, re.MULTILINE) and "\nnew " not in compared
            assert f"There is no problem {problem!r}" in await call("explain", id=problem)

    path = tmp_path / "model.py"
    path.write_text(BREAKING)
    anyio.run(scenario)


def test_a_program_is_debugged_at_compile_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server(tmp_path) as call:
            assert "there is no file nowhere.py" in await call("debug", command="model.py", stops=["nowhere.py:3"])
            assert "cannot read nowhere.py" in await call("debug", command="nowhere.py")
            told = await call("debug", command="model.py", stops=["model.py:7"])
            session = found(r"^Session (\S+)", told)
            assert "● compile time  scaled [0/0]  model.py:7" in told and re.search(r"locals:\n +x +f32\[3\]", told)
            assert "f32[3]" in await call("look", session=session, command="print y")
            assert "  TENSOR_MATCH at " in await call("look", session=session, command="guards")
            assert "go(session, 'next')" in await call("look", session=session, command="next")
            assert "there is no command `nonsense`" in await call("look", session=session, command="nonsense")
            assert "model.py:6" in await call("go", session=session, how="back")
            assert "look(session, 'locals')" in await call("go", session=session, how="locals")
            ended = await call("go", session=session, how="continue")
            while "ended with exit code" not in ended:
                ended = await call("go", session=session, how="continue")
            assert "model.py ended with exit code 0" in ended and "  | mean" in ended
            assert "There is no session" in await call("go", session=session, how="next")

    (tmp_path / "model.py").write_text(BREAKING)
    anyio.run(scenario)


@pytest.mark.matrix
def test_a_program_that_runs_on_is_waited_for_paused_and_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server(tmp_path) as call:
            told = await call("debug", command="waiting.py", timeout=1)
            session = found(r"Next: go\('(\S+)', 'wait'\), or 'pause'", told)
            assert "The program runs" in await call("look", session=session, command="locals")
            while "  | begun" not in told:
                told = await call("go", session=session, how="wait", timeout=1)
            assert "waiting.py:3" in await call("go", session=session, how="pause")
            assert await call("go", session=session, how="end") == "It has ended."

    (tmp_path / "waiting.py").write_text(WAITING)
    anyio.run(scenario)


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


@pytest.mark.parametrize("way", ["end of input", pytest.param("kill", marks=pytest.mark.matrix)])
def test_nothing_is_left_when_the_client_or_the_server_goes(way: str, tmp_path: Path) -> None:
    """One program is recorded, and one is stopped; their processes end."""
    (tmp_path / "model.py").write_text(BREAKING)
    (tmp_path / "waiting.py").write_text(WAITING)
    code = (
        "import sys; from dynascope.mcp import tools; tools.PATIENCE = 20\n"
        "from dynascope.mcp.recordings import RecordedProgram\n"
        "mine = tools.Tools(); told = mine.debug('model.py', ['model.py:7'], [], 100)\n"
        "assert 'model.py:7' in told, told\n"
        "program = RecordedProgram('waiting.py', 600); mine.sessions.add(program)\n"
        "while 'begun' not in program.output(): pass\n"
        "print('ready', flush=True); sys.stdin.read(); mine.sessions.close()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=adapter_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    there = children(process)
    assert len(there) >= 3
    if way == "kill":
        process.send_signal(signal.SIGKILL)
    else:
        process.stdin.close()
    process.wait(60)
    _, alive = psutil.wait_procs(there, 60)
    for each in alive:
        each.kill()
    assert [each.cmdline() for each in alive if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
    process.stdout.close()
    process.stdin.close()


def test_over_http_only_those_with_the_token_are_served(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dynascope", "mcp", "--http", "0", str(tmp_path)]
    with subprocess.Popen(command, env=adapter_environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url, token = (process.stdout.readline().strip() for _ in range(2))
            asked = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
            body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
            name, _, value = token.partition(": ")
            assert status(url, body, asked) == 401
            assert status(url, body, asked | {name: value + "x"}) == 401
            assert status(url, body, asked | {name: value, "Host": "example.org"}) in (403, 421)
            assert status(url, body, asked | {name: value, "Origin": "http://example.org"}) == 403
            assert status(url, body, asked | {name: value}) != 401
        finally:
            process.send_signal(signal.SIGINT)


def status(url: str, body: bytes, headers: dict[str, str]) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_without_the_package_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from dynascope.cli import main; main(['mcp'])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **adapter_environment()}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "pip install 'dynascope[mcp]'" in done.stderr
