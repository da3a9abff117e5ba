"""Quick fixes on programs that they were not written for: what is offered neither breaks a program nor changes what it
prints, and removes what it is offered for.

`python -m tests.lsp.fix_outcomes` does the same for all programs of `fixable`, and for yours.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope_lsp.fixes.fix import Advice
from dynascope_lsp.fixes.offered import offered

from tests.lsp.fix_outcomes import FIXABLE, Applied, Case, outcomes, programs, snapshots
from tests.support import breaking_programs

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(900)]

MENDED = (
    *(
        "branch_scaled",
        "branch_early_return",
        "branch_operand_twice",
        "branch_clipped_norm",
        "branch_in_loop",
        "branch_any",
    ),
    *("item_factor", "item_gradient", "item_attribute", "item_two_on_a_line", "late_import", "import_names_only"),
    *("print_tensor", "masked_mean", "recurrent", "size_two_tensors", "size_one_line_loop", "size_module"),
    *("two_files/main", "imported_function/main"),
    *("branch_new_value_returned", "item_updated_by_helper", "item_updated_elsewhere/main", "item_buffer_updated"),
    "item_shared_with_numpy",
    "on_purpose",
    *("print_with_calls", "size_may_be_missing", "size_same_name", "size_same_attribute", "size_two_meanings"),
    *("size_star_arguments", "size_equal", "item_bool"),
)
"""Something is offered for each."""
LEFT_ALONE = (
    *("branch_elif_on_mode", "branch_not_any", "branch_numbers", "branch_other_shape", "branch_mutated_after"),
    *("branch_layers", "branch_layouts", "branch_and_print_in_loop", "branch_float_attribute"),
    *("branch_expression_returns_input", "branch_dropout", "branch_counts", "branch_other_dtype", "item_json"),
    *("item_compared", "item_range", "item_divmod", "bool_conversion", "clock", "random_choice", "unique_names"),
    *(
        "zeroed_gradients",
        "print_mutated",
        "print_to_stderr",
        "print_in_inlined",
        "masked_length",
        "masked_helper",
        "packed",
        "recurrent_lowered",
    ),
    *(
        "size_of_a_number",
        "size_not_dynamic",
        "size_starts_at_one",
        "size_specialised",
        "size_looped_over",
        "size_list_argument",
        "package_of_files/main",
    ),
    *("branch_alias_elsewhere/main", "branch_weight_returned", "branch_identity", "branch_stored_before"),
    *("item_saved_for_backward", "item_of_changed_buffer", "branch_on_changed_buffer"),
    *("branch_shared_with_numpy", "branch_shared_with_integers", "branch_of_subclass"),
    *("branch_number_may_be_zero", "branch_missing_bias", "branch_missing_argument", "branch_sizes_do_not_fit"),
    *(
        "branch_table",
        "branch_layer_named_as_operation",
        "print_then_update",
        "print_error_caught",
        "print_size_and_text",
        "print_starred",
        "size_optional_weights",
    ),
)
"""Nothing is."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Case], list[Applied]]:
    paths = [FIXABLE / f"{name}.py" for name in (*MENDED, *LEFT_ALONE)]
    cases, applied = outcomes(paths, Path(tmp_path_factory.mktemp("copies")).resolve())
    return cases, [each for each in applied if each.is_proven]


def test_every_program_runs(measured: tuple[list[Case], list[Applied]]):
    assert {each.program.stem: each.error for each in measured[0] if each.exit_code} == {}


def test_no_fix_breaks_a_program_or_changes_what_it_prints(measured: tuple[list[Case], list[Applied]]):
    assert [each for each in measured[1] if each.verdict in ("crashed", "results changed")] == []


@pytest.mark.main_leg
def test_a_quarter_of_programs_that_break_has_a_fix_that_helps_and_none_that_harms(tmp_path: Path):
    """A fix that is not proven is offered only if a trial shows that it helps."""
    cases, applied = outcomes(breaking_programs.programs(), tmp_path.resolve())
    assert [each for each in applied if each.is_proven and each.verdict != "gone"] == []
    mended = {each.name for each in applied if each.verdict == "gone"}
    assert 4 * len(mended) >= len(cases), mended


def test_nine_in_ten_remove_what_they_are_offered_for(measured: tuple[list[Case], list[Applied]]):
    left = [each for each in measured[1] if each.verdict == "still there"]
    assert 10 * len(left) <= len(measured[1]), left


def test_what_is_offered_and_what_not(measured: tuple[list[Case], list[Applied]]):
    offered = {each.name for each in measured[1]}
    names = {case.program.stem if case.program.stem != "main" else case.folder.name for case in measured[0]}
    assert len(names) == len(MENDED) + len(LEFT_ALONE)
    expected = {
        case.program.stem if case.program.stem != "main" else case.folder.name
        for case, name in zip(measured[0], (*MENDED, *LEFT_ALONE), strict=True)
        if name in MENDED
    }
    assert offered == expected


def test_a_tensor_that_is_written_to_is_copied_where_its_number_was_read(measured: tuple[list[Case], list[Applied]]):
    titles = {each.name: each.title for each in measured[1] if each.title.startswith("Keep it a tensor")}
    assert titles["item_updated_by_helper"] == "Keep it a tensor: level.detach().clone()"
    assert titles["item_factor"] == "Keep it a tensor: x.sum().detach()"


def test_only_calls_of_what_was_compiled_are_marked(measured: tuple[list[Case], list[Applied]]):
    marked = {each.name for each in measured[1] if each.title.startswith("Mark it dynamic before the call")}
    assert {"size_same_name", "size_same_attribute"} <= marked
    assert not marked & {"size_may_be_missing", "size_two_meanings", "size_optional_weights"}


def test_advice_on_a_print_speaks_of_the_right_one(measured: tuple[list[Case], list[Applied]]):
    assert [each.partition(" is not")[0] for each in advice(measured[0], "print_size_and_text")] == [
        "`a.shape`",
        "The setting is for each `print`. That of print_size_and_text.py:6: `a.shape`",
    ]
    assert advice(measured[0], "print_starred")[0].startswith("`*norms` is not known to be a tensor")


def test_a_boolean_that_is_computed_with_is_left_alone(measured: tuple[list[Case], list[Applied]]):
    assert {each.title for each in measured[1] if each.name == "item_bool"} == {"Compile with dynamic=True"}
    assert any(each.startswith("Arithmetic asks for") for each in advice(measured[0], "item_bool"))


def test_a_recurrent_layer_is_left_out_where_a_backend_would_compute_it_otherwise(
    measured: tuple[list[Case], list[Applied]],
):
    (text,) = advice(measured[0], "recurrent_lowered")
    assert "the backend aot_eager computes the layer in another way" in text


def advice(cases: list[Case], name: str) -> list[str]:
    """What is said of a program where nothing is offered."""
    (case,) = (each for each in cases if each.program.stem == name)
    found = ((snapshot, each) for _, snapshot in snapshots(case) for each in snapshot.findings)
    return [each.text for where in found for each in offered(*where) if isinstance(each, Advice)]


def test_a_fix_may_be_in_another_file(measured: tuple[list[Case], list[Applied]]):
    titles = {each.title for each in measured[1] if each.path.name in ("net.py", "ops.py")}
    assert {"Compile with dynamic=True", "Replace the branch by torch.cond"} <= titles
    assert any(title.startswith("Mark it dynamic before the call") for title in titles)


@pytest.mark.timeout(3600)
def test_the_same_of_every_program(tmp_path: Path):
    cases, applied = outcomes(programs(), tmp_path.resolve())
    found = [each for each in applied if each.is_proven]
    assert {each.program.stem: each.error for each in cases if each.exit_code} == {}
    assert [each for each in found if each.verdict in ("crashed", "results changed")] == []
    assert 10 * sum(each.verdict == "still there" for each in found) <= len(found)
    assert len(found) >= 80  # silence is safe, too
