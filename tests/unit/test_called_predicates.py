"""Names that a condition reads by functions it calls, as their caller names them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from dynascope.facts.comparison.called_predicates import names_asked
from dynascope.facts.comparison.plain_code import changes_in

SOURCE = """\
class Server:
    def has_work(self):
        return bool(self.waiting or len(self.running))

def is_due(step, every, offset=0):
    left = step % every
    if offset > 2:
        return True
    return left == 0

def twice(x): return x.first
class Other:
    def twice(self): return self.second

rank, world = start()
count = 0
for batch in loader:
    count += 1
"""


@pytest.mark.parametrize(
    "condition, names",
    [
        ("server.has_work()", ["server.waiting", "len(server.running)"]),
        ("not self.server.has_work()", ["self.server.waiting", "len(self.server.running)"]),
        ("is_due(self.step, 4, offset=cfg.offset)", ["cfg.offset"]),
        ("x.twice()", []),  # two of that name
        ("make().has_work()", []),
        ("unknown(x)", []),
    ],
)
def test_names_are_those_of_the_caller(tmp_path: Path, condition: str, names: list[str]) -> None:
    (tmp_path / "serve.py").write_text(SOURCE)
    found = names_asked(str(tmp_path / "serve.py"), ast.parse(condition, mode="eval").body)
    assert [*found] == names


@pytest.mark.parametrize("name, changes", [("rank", False), ("count", True), ("batch", True), ("missing", False)])
def test_a_name_changes_that_a_loop_assigns(tmp_path: Path, name: str, changes: bool) -> None:
    (tmp_path / "serve.py").write_text(SOURCE)
    assert changes_in(str(tmp_path / "serve.py"), name) is changes
