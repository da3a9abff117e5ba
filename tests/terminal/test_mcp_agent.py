"""An agent that reads nothing but the server's answers mends programs, and runs each again.

It is a fixed policy: for each remedy that it knows, an edit of the line that the answer names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

pytest.importorskip("torch")
pytest.importorskip("mcp")

from tests.support.marks import ROOT
from tests.support.mcp_client import found, server

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg, pytest.mark.timeout(1200)]

PROGRAMS = sorted((ROOT / "tests" / "programs" / "agents").glob("*.py"))
ROUNDS = 3
Edit = Callable[[list[str], int, str], None]


def take_the_line_out(lines: list[str], number: int, told: str) -> None:
    del lines[number - 1]


def set_the_config(lines: list[str], number: int, told: str) -> None:
    lines.insert(lines.index("import torch") + 1, found(r"Set `(torch\.\S+ = True)`", told))


def compile_with_dynamic(lines: list[str], number: int, told: str) -> None:
    at = next(index for index, line in enumerate(lines) if "torch.compile" in line)
    line = lines[at].replace(", dynamic=False", "")
    lines[at] = line[:-1] + ", dynamic=True)" if line.endswith(")") else f"{line}(dynamic=True)"


def keep_the_tensor(lines: list[str], number: int, told: str) -> None:
    lines[number - 1] = lines[number - 1].replace(".item()", "")


def choose_with_where(lines: list[str], number: int, told: str) -> None:
    (chosen,) = ast.parse("\n".join(line[4:] for line in lines[number - 1 : number + 3])).body
    assert isinstance(chosen, ast.If)
    (one,), (other,) = chosen.body, chosen.orelse
    assert isinstance(one, ast.Assign) and isinstance(other, ast.Assign)
    parts = ", ".join(map(ast.unparse, (chosen.test, one.value, other.value)))
    lines[number - 1 : number + 3] = [f"    {ast.unparse(one.targets[0])} = torch.where({parts})"]


def check_in_the_graph(lines: list[str], number: int, told: str) -> None:
    (check,) = ast.parse("\n".join(line[4:] for line in lines[number - 1 : number + 1])).body
    assert isinstance(check, ast.If) and isinstance(check.body[0], ast.Raise)
    text = ast.literal_eval(check.body[0].exc.args[0])  # type: ignore[union-attr]
    lines[number - 1 : number + 1] = [f"    torch._assert_async(~({ast.unparse(check.test)}), {text!r})"]


def change_the_argument(method: str) -> Edit:
    def change(lines: list[str], number: int, told: str) -> None:
        name = found(r"because of (\w+)\.", told)
        for line in {int(each) for each in re.findall(r"called at \S+:(\d+) in <module>", told)}:
            lines[line - 1] = lines[line - 1].replace(f"({name})", f"({name}{method})")

    return change


POLICY: list[tuple[str, Edit]] = [
    (r"hint (Print|Log) outside of the compiled function", take_the_line_out),
    (r"hint Set `torch\._dynamo\.config", set_the_config),
    (r"hint .*[cC]ompile with `dynamic=True`", compile_with_dynamic),
    (r"hint With `dynamic=True`", compile_with_dynamic),
    (r"hint Keep it a tensor, without `\.item\(\)`", keep_the_tensor),
    (r"hint .*torch\._assert_async", check_in_the_graph),
    (r"hint .*torch\.where\(condition, a, b\)", choose_with_where),
    (r"hint .*`\.contiguous\(\)` before the call", change_the_argument(".contiguous()")),
    (r"hint .*`\.detach\(\)`", change_the_argument(".detach()")),
]


async def mend(folder: Path) -> str:
    """Mend `model.py` until no problem is left that the policy knows; return why it is not mended, or ""."""
    path = folder / "model.py"
    async with server(folder) as call:
        told = await call("record", command="model.py")
        printed = re.findall(r"^  \| (.*)", told, re.MULTILINE)
        for _ in range(ROUNDS):
            problem = re.search(r"Next: explain\('(\S+)'\)", told)
            if problem is None:
                return "" if re.findall(r"^  \| (.*)", told, re.MULTILINE)[-1:] == printed[-1:] else told
            explained = await call("explain", id=problem[1])
            lines = path.read_text().splitlines()
            edit = next((edit for pattern, edit in POLICY if re.search(pattern, explained)), None)
            if edit is None:
                return explained
            try:
                edit(lines, int(found(r"model\.py:(\d+)", explained)), explained)
            except (AssertionError, ValueError) as error:
                return f"{edit.__name__}: {error}"
            path.write_text("\n".join(lines) + "\n")
            told = await call("record", command="model.py")
            compared = await call("compare")
            if not re.search(rf"^(mended|fewer) +{problem[1]} ", compared, re.MULTILINE):
                return compared
    return told


def test_an_agent_mends_ten_programs(tmp_path: Path) -> None:
    left = {}
    for program in PROGRAMS:
        folder = tmp_path / program.stem
        folder.mkdir()
        (folder / "model.py").write_text(program.read_text())
        if reason := anyio.run(mend, folder):
            left[program.stem] = reason
    assert len(PROGRAMS) == 10 and not left, "\n\n".join(f"{name}: {reason}" for name, reason in left.items())
