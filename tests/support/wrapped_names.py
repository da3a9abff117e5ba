"""docs/wrapped-names.md, written from the declarations of the agent.

`python -m tests.support.wrapped_names` writes it; a page that is stale fails the tests.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.torch_names import all_names
from dynascope.agent.events.wrapping import TESTED_PYTHON, TESTED_TORCH

PAGE = Path(__file__).parents[2] / "docs" / "wrapped-names.md"

_TEXT = """# Names of PyTorch that Dynascope wraps

Written from `adapter/dynascope/agent/events/torch_names.py` by `make wrapped-names`; a test fails when it is stale.

Dynascope hears of a compile by wrapping functions that are private to PyTorch. Each is wrapped once, however many hear
of its calls, only while one does, and restored afterwards. When the program imports `torch._dynamo`, all are looked up
without being called. If one is missing, or takes other parameters than those below, Dynascope says so once, and only
what the name serves is off. Tested are torch {torch} with Python {python}; Dynascope says once that it runs with any
other.

`...` stands for parameters that are passed on as they come, and *any* for a name that is not called by us. *May be
absent*: some torch has no such name, and nothing is lost.
"""


def page() -> str:
    """Return what docs/wrapped-names.md should say."""
    text = _TEXT.format(
        torch=f"{TESTED_TORCH[0]} to {TESTED_TORCH[-1]}", python=f"{TESTED_PYTHON[0]} to {TESTED_PYTHON[-1]}"
    )
    tables = (_table(module, list(names)) for module, names in groupby(all_names(), lambda name: name.module))
    return "\n".join([text, *tables])


def _table(module: str, names: list[TorchName]) -> str:
    rows = [f"## {module}", "", "| name | parameters | since torch | serves |", "|---|---|---|---|"]
    return "\n".join([*rows, *map(_row, names)]) + "\n"


def _row(name: TorchName) -> str:
    parameters = "*any*" if name.parameters is None else f"`({name.parameters})`"
    absent = "; may be absent" if name.may_be_absent else ""
    return f"| `{name.name}` | {parameters} | {name.since}{absent} | {', '.join(name.serves)} |"


if __name__ == "__main__":
    PAGE.write_text(page())
