"""Predictions on code that was not written for them: at least 9 in 10 of each rule are where Dynamo breaks, in a run.

Lines at which a run broke say `# breaks`; the matrix runs the programs again.
`python -m tests.lsp.precision` prints the same figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lsp.precision import (
    FOREIGN,
    REPOSITORIES,
    Outcome,
    marks,
    observations,
    ordinary_programs,
    outcomes_by_marks,
    programs,
    programs_of_repositories,
)

MAY_BE_WRONG = 10
"""One of so many predictions of a rule; one of a rule that has fewer."""
PREDICTIONS = 95
"""That are right, at least: silence is precise, too."""
PRECISION, RECALL = 0.95, 0.8
"""On ordinary programs, which were written before the rules."""
RECALL_IN_REPOSITORIES = 0.7


@pytest.fixture(scope="module")
def measured() -> list[Outcome]:
    return outcomes_by_marks(programs())


def test_of_each_rule_nine_predictions_in_ten_are_right(measured: list[Outcome]):
    made = Counter(rule for each in measured for rules in each.predicted.values() for rule in rules)
    wrong = Counter(rule for each in measured for rules in each.wrong.values() for rule in rules)
    allowed = {rule: max(count // MAY_BE_WRONG, 1) for rule, count in made.items()}
    assert {rule for rule, count in wrong.items() if count > allowed[rule]} == set()
    assert wrong.total() <= made.total() // MAY_BE_WRONG // 2
    assert made.total() - wrong.total() >= PREDICTIONS


@pytest.mark.parametrize(
    "name",
    [
        *("silenced_print", "ignored_loggers", "scalars_captured", "scalars_by_setattr"),
        *("own_compile_method", "optional_inputs", "named_tensor_types", "shape_branches", "while_compiling"),
        *("returns_tuples", "switched_off_outside", "generators", "empty_callbacks", "early_exit_loop"),
    ],
)
def test_nothing_is_said_of_what_only_looks_like_a_break(measured: list[Outcome], name: str):
    assert next(each.predicted for each in measured if each.program == FOREIGN / f"{name}.py") == {}


def test_names_of_builtins_may_be_something_else(measured: list[Outcome]):
    assert next(each.predicted for each in measured if each.program.parent.name == "shadowed") == {}


def test_a_break_in_a_layer_leaves_the_loop_over_the_layers_uncompiled(measured: list[Outcome]):
    lines = next(each.predicted for each in measured if each.program.stem == "blocks_in_a_loop")
    assert {line for _, line in lines} == {14}


def test_a_chain_over_several_lines_breaks_at_the_name_that_is_called(measured: list[Outcome]):
    lines = next(each.predicted for each in measured if each.program.stem == "chained_methods")
    assert {line for _, line in lines} >= {11, 15, 16}


@pytest.mark.parametrize(
    ("programs", "recall"), [(ordinary_programs, RECALL), (programs_of_repositories, RECALL_IN_REPOSITORIES)]
)
def test_most_breaks_are_predicted(programs: Callable[[], list[Path]], recall: float):
    measured = outcomes_by_marks(programs())
    made = sum(len(each.predicted) for each in measured)
    right = sum(len(each.predicted.keys() & each.observed) for each in measured)
    assert right >= PRECISION * made, [each.wrong for each in measured if each.wrong]
    assert right >= recall * sum(len(each.observed) for each in measured)


@pytest.mark.parametrize(
    "name",
    [
        *("aliased_compile", "compiling_decorator", "layers_compiled_in_a_loop", "two_attributes_at_once"),
        *("zipped_module_lists", "mixin_models", "loss_registry", "setattr_compile", "multitask_heads"),
    ],
)
def test_the_ways_to_compile_are_found(name: str):
    (measured,) = outcomes_by_marks([REPOSITORIES / f"{name}.py"])
    assert measured.predicted.keys() & measured.observed


@pytest.mark.matrix
@pytest.mark.main_leg  # the programs say where Dynamo of torch 2.13 breaks; later ones trace clocks
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("programs", "at_least"), [(programs, 50), (ordinary_programs, 60), (programs_of_repositories, 130)]
)
def test_programs_break_where_they_say(programs: Callable[[], list[Path]], at_least: int):
    found = observations(programs())
    assert len(found) >= at_least
    assert {program.name: error for program, (_, error) in found.items() if error} == {}
    assert {program: places for program, (places, _) in found.items()} == {each: marks(each) for each in found}
    assert found.keys() == set(programs())
