"""Hit conditions, names of functions, and which lines have code."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope.agent.breakpoints.hits import parse_hit_condition
from dynascope.agent.program.source_lines import lines_with_code, own_lines
from dynascope.wire.breakpoint_texts import names_function, names_function_of

SOURCE = '''\
import os


def outer(
    a,
    b=1,
):
    """Docstring."""
    # comment
    x = call(
        a,
        b,
    )

    def inner(y): return y

    if x:
        pass
    else:
        x = [
            i for i in a
        ]
    return (lambda z:
        z + 1)(x)


class C:
    attribute = 1

    def method(self):
        yield 1
'''


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "module.py"
    file.write_text(SOURCE)
    return str(file)


@pytest.mark.parametrize(
    ("condition", "stops_at"),
    [
        ("3", [3]),
        ("== 3", [3]),
        (">=3", [3, 4, 5, 6]),
        ("> 4", [5, 6]),
        ("<= 2", [1, 2]),
        ("<2", [1]),
        ("% 2", [2, 4, 6]),
    ],
)
def test_hit_conditions_are_debugpys(condition: str, stops_at: list[int]) -> None:
    holds = parse_hit_condition(condition)
    assert [hits for hits in range(1, 7) if holds(hits)] == stops_at


@pytest.mark.parametrize("condition", ["x > 1", "% 0", "=> 2", "-1"])
def test_what_is_no_hit_condition_is_refused_in_words(condition: str) -> None:
    with pytest.raises(ValueError, match="is not a hit condition"):
        parse_hit_condition(condition)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("forward", "Model.forward"),
        ("Model.forward", "Model.forward"),
        ("Llama*.forward", "LlamaAttention.forward"),
        ("outer.inner", "outer.<locals>.inner"),
        ("inner", "outer.<locals>.inner"),
        ("*", "anything"),
    ],
)
def test_a_function_is_named_by_the_end_of_its_name_or_a_glob(pattern: str, name: str) -> None:
    assert names_function(pattern, name)


@pytest.mark.parametrize(("pattern", "name"), [("ward", "Model.forward"), ("Other.forward", "Model.forward")])
def test_a_part_of_a_word_names_nothing(pattern: str, name: str) -> None:
    assert not names_function(pattern, name)


LINEAR = "/venv/lib/torch/nn/modules/linear.py"


@pytest.mark.parametrize(
    ("pattern", "is_named"),
    [
        ("torch.nn.modules.linear.Linear.forward", True),
        ("linear.Linear.forward", True),
        ("torch.nn.Linear.forward", True),
        ("torch.nn.*", True),
        ("Linear.forward", True),
        ("torch.nn.forward", False),
        ("near.Linear.forward", False),
        ("torch.nn.Bilinear.forward", False),
    ],
)
def test_a_functions_module_or_package_may_come_before_its_name(pattern: str, is_named: bool) -> None:
    assert names_function_of(pattern, "Linear.forward", LINEAR) == is_named


def test_a_packages_own_functions_are_named_without_init() -> None:
    assert names_function_of("torch.nn.helper", "helper", "/venv/lib/torch/nn/__init__.py")


@pytest.mark.parametrize(
    ("clicked", "stops"),
    [
        (1, 1),
        (2, 4),
        (3, 4),
        (4, 4),
        (8, 10),
        (9, 10),
        (10, 10),
        (11, 11),
        (12, 12),
        (13, 12),
        (14, 15),
        (17, 17),
        (19, 20),
        (22, 21),
        (25, 27),
        (28, 28),
        (31, 31),
        (32, None),
    ],
)
def test_a_line_without_code_moves(path: str, clicked: int, stops: int | None) -> None:
    lines = lines_with_code(path)
    assert lines is not None
    assert lines.line_for(clicked) == stops


def test_a_file_that_changes_is_read_again(path: str) -> None:
    assert lines_with_code(path)
    Path(path).write_text("\n\n\nx = 1\n")
    lines = lines_with_code(path)
    assert lines is not None
    assert lines.lines == (4,)


@pytest.mark.parametrize("text", ["def broken(:", "\0"])
def test_a_file_that_does_not_compile_says_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text)
    assert lines_with_code(str(file)) is None


def test_the_def_line_is_no_line_of_the_function_unless_its_body_begins_there() -> None:
    def several(x: int) -> int:
        return x

    first = several.__code__.co_firstlineno
    assert own_lines(several.__code__) == {first + 1}
    one = lambda x: x + 1  # noqa: E731
    assert own_lines(one.__code__) == {one.__code__.co_firstlineno}
