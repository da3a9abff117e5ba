"""The length of what an agent reads about ordinary programs: answers of `dynascope mcp`, in tokens."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import anyio
import pytest

pytest.importorskip("torch")
pytest.importorskip("mcp")

from tests.support.marks import PROGRAMS
from tests.support.mcp_client import CHARACTERS, TOKENS, server

pytestmark = [pytest.mark.matrix, pytest.mark.main_leg, pytest.mark.timeout(900)]

SENTENCES = PROGRAMS / "sentences"
CHOSEN = [
    *sorted((SENTENCES / "breaks").glob("[a-z]*.py"))[::6],
    *sorted((SENTENCES / "recompiles").glob("[a-z]*.py"))[::6],
][:25]
MEDIAN = 400


async def ask(program: Path) -> dict[str, str]:
    """Return the answers about a program to what an agent asks about each: the first problem, its compile, a stop."""
    answers = {}
    async with server(program.parent) as call:
        answers["record"] = await call("record", command=program.name)
        answers["problems"] = await call("problems")
        if first := re.search(r"Next: explain\('(\S+)'\)", answers["record"]):
            answers["explain"] = await call("explain", id=first[1])
        answers["graph"] = await call("show", compile="0/0", what="graph")
        answers["guards"] = await call("show", compile="0/0", what="guards")
        lines = enumerate(program.read_text().splitlines(), 1)
        line = next(number for number, text in lines if text.startswith("    ") and ("return" in text or "=" in text))
        answers["debug"] = told = await call("debug", command=program.name, stops=[f"{program.name}:{line}"])
        if session := re.search(r"^Session (\S+)", told):
            for command in ("locals", "where", "guards"):
                answers[command] = await call("look", session=session[1], command=command)
            answers["next"] = await call("go", session=session[1], how="next")
            answers["end"] = await call("go", session=session[1], how="end")
    return answers


def test_no_answer_is_longer_than_agents_bear(tmp_path: Path) -> None:
    tokens: list[float] = []
    for program in CHOSEN:
        (tmp_path / program.stem).mkdir()
        copy = tmp_path / program.stem / program.name
        copy.write_text(program.read_text())
        answers = anyio.run(ask, copy)
        tokens += [len(answer) / CHARACTERS for answer in answers.values()]
        wrong = {name: answer for name, answer in answers.items() if "Traceback" in answer or not answer.strip()}
        assert not wrong, f"{program.stem}: {wrong}"
    print(f"{len(tokens)} answers: median {statistics.median(tokens):.0f}, longest {max(tokens):.0f} tokens")
    assert len(CHOSEN) == 25 and max(tokens) <= TOKENS and statistics.median(tokens) <= MEDIAN
