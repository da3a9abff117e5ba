"""What may be typed after `break`."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.terminal.locations import BadLocation, Location, display_path, function_around, parse

SOURCE = '''\
class Block:
    def forward(self, x):
        """Says what it does."""
        y = x + 1
        return y


class Net:
    def forward(self, x):
        return Block().forward(x)

    def loss(self, x):
        def inner(y):
            return y
        return inner(x)
'''


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("model.py:4", 4),
        ("model.py:Block.forward", 4),  # past the docstring
        ("model.py:Net.forward", 10),
        ("model.py:loss", 13),
        ("model.py:inner", 14),
        ("12", 12),
    ],
)
def test_lines(model: Path, monkeypatch: pytest.MonkeyPatch, typed: str, line: int):
    monkeypatch.chdir(model.parent)
    assert parse(typed, model) == (Location(model, line), "")


def test_a_function_without_a_file_is_a_function_breakpoint():
    assert parse("Block.forward, x is not None", None) == (Location(function="Block.forward"), "x is not None")


@pytest.mark.parametrize("name", ["NodeCall 5", "Scale.backward", "*Convolution*", "call_method view"])
def test_parts_of_graphs_are_breakpoints_by_name(name: str):
    assert parse(f"{name}, nodes > 3", None) == (Location(function=name), "nodes > 3")


def test_a_condition_may_hold_commas(model: Path):
    assert parse(f"{model}:4, f(x, 1) == 2", None) == (Location(model, 4), "f(x, 1) == 2")


def test_a_file_beside_the_program_or_on_the_path(model: Path, monkeypatch: pytest.MonkeyPatch):
    assert parse("model.py:4", model.parent / "train.py")[0].path == model
    monkeypatch.syspath_prepend(str(model.parent.parent))
    assert parse(f"{model.parent.name}/model.py:4", None)[0].path == model


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("", "where"),
        ("12", "of which file"),
        ("nowhere.py:3", "no file nowhere.py"),
        ("{model}:99", "has 15 lines"),
        ("{model}:0", "no line 0"),
        ("{model}:missing", "no function `missing`"),
        ("{model}:forward", "several: Block.forward, Net.forward"),
        ("a b", "neither"),
    ],
)
def test_complaints_say_what_to_do(model: Path, typed: str, complaint: str):
    with pytest.raises(BadLocation, match=complaint):
        parse(typed.replace("{model}", str(model)), None)


def test_the_function_around_a_line(model: Path):
    assert function_around(model, 4) == (2, 5)
    assert function_around(model, 14) == (13, 14)
    assert function_around(model, 6) is None
    assert function_around(model.parent / "gone.py", 1) is None


def test_paths_are_shown_relative_to_here(model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(model.parent)
    assert display_path(model) == "model.py"
    assert display_path("/elsewhere/x.py") == "/elsewhere/x.py"
