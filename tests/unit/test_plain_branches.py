"""Where ranks call collectives at other lines of plain Python, the condition and what it reads are found."""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist
from dynascope.agent.ranks.frame_values import values_in
from dynascope.explain.plain_differences import plain_difference, skipped_before
from dynascope.explain.wrapper_differences import ddp_difference, fsdp_difference
from dynascope.facts.comparison.plain_branch import FSDP_SETTINGS, EarlierCall, FrameValues
from dynascope.facts.comparison.plain_branches import branches_apart
from dynascope.facts.comparison.plain_reads import elements_read, globals_read, names_read
from dynascope.facts.user_stack import UserFrame
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

SOURCE = """\
def train(self, batches):
    for batch in batches:
        if self.bad > self.limit:
            break
        if batch.sum().item() > config["least"] and not self.quiet:
            call(
                1)
        elif len(batches) == 3:
            call(2)
        else:
            call(3)
    call(4)

def outer():
    for x, y in train(1): call(x)
    while ready: call(y)
    call(z)
    if ready:
        train(2)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(SOURCE)
    return str(tmp_path / "train.py")


def stack(path: str, *lines: tuple[str, int]) -> list[UserFrame]:
    return [UserFrame(path, line, function) for function, line in lines]


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ((6, 9), ("batch.sum().item() > config['least'] and (not self.quiet)", (True, False))),
        ((9, 11), ("len(batches) == 3", (True, False))),
        ((11, 7), ("batch.sum().item() > config['least'] and (not self.quiet)", (False, True))),
        ((12, 9), ("len(batches) == 3", (False, True))),
    ],
)
def test_the_condition_between_two_lines_is_the_first(path: str, lines: tuple[int, int], first: object) -> None:
    branches = branches_apart(stack(path, ("train", lines[0])), stack(path, ("train", lines[1])))
    assert (branches[0].text, branches[0].is_true) == first


def test_loops_and_what_leaves_them_are_looked_at_too(path: str) -> None:
    branches = branches_apart(stack(path, ("train", 11)), stack(path, ("train", 12)))
    assert [(each.text, each.kind) for each in branches if each.kind != "setting"] == [
        ("self.bad > self.limit", "break"),
        ("for batch in batches", "loop"),
    ]


def test_the_outermost_function_in_which_lines_differ_is_looked_at(path: str) -> None:
    branches = branches_apart(stack(path, ("outer", 17), ("train", 6)), stack(path, ("outer", 19), ("train", 9)))
    assert (branches[0].function, branches[0].text) == ("outer", "ready")


def test_loops_are_told_as_they_are_written(path: str) -> None:
    for line, text in ((15, "for x, y in train(1)"), (16, "while ready")):
        branches = branches_apart(stack(path, ("outer", line)), stack(path, ("outer", 17)))
        assert [each.text for each in branches] == [text]


def test_equal_lines_and_other_functions_have_no_condition(path: str) -> None:
    assert [each.kind for each in branches_apart(stack(path, ("train", 6)), stack(path, ("train", 6)))] == ["call"]
    assert branches_apart(stack(path, ("train", 6)), stack(path, ("outer", 15))) == []
    assert branches_apart(stack(path + "x", ("train", 6)), stack(path + "x", ("train", 9))) == []


def test_names_are_those_of_all_conditions_of_the_function(path: str) -> None:
    assert names_read(path, 7) == [
        "batches",
        "self.bad",
        "self.limit",
        "batch",
        "config['least']",
        "self.quiet",
        "len(batches)",
    ]


class Waits:
    @property
    def limit(self) -> int:
        raise AssertionError("no code of the program runs")


def test_values_are_read_without_running_code_of_the_program(tmp_path: Path) -> None:
    text = SOURCE.replace("call(4)", "raise_in(sys._getframe())")
    (tmp_path / "train.py").write_text(text)
    found: list[list[FrameValues]] = []

    def raise_in(frame: object) -> None:
        found.append(values_in(traceback.walk_stack(frame)))  # type: ignore[arg-type]

    space = {"sys": sys, "raise_in": raise_in, "call": id, "config": {"least": 100.0}}
    exec(compile(text, str(tmp_path / "train.py"), "exec"), space)
    waits = Waits()
    waits.bad, waits.quiet = 0, SimpleNamespace()  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        space["train"](waits, [torch.ones(3)])  # type: ignore[operator]
    space["train"](SimpleNamespace(bad=0, limit=2, quiet=False), [torch.ones(1), torch.ones(3)])  # type: ignore[operator]
    own = next(each for each in found[0] if each.function == "train")
    assert own.values == {
        "batches": "of length 2",
        "self.bad": "0",
        "self.limit": "2",
        "batch": "of size [3]",
        "config['least']": "100.0",
        "self.quiet": "False",
        "len(batches)": "2",
    }


def test_groups_meshes_and_placements_are_texts(tmp_path: Path) -> None:
    dist.init_process_group("fake", rank=1, world_size=4, store=FakeStore())
    try:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
        made = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0), Replicate()])
        task = SimpleNamespace(mesh=mesh, group=mesh.get_group("rows"), places=[Shard(1)], names=("a", 1))
        text = "def run(task, made):\n    made, wait()\n"
        (tmp_path / "task.py").write_text(text)
        found: list[FrameValues] = []
        space = {"wait": lambda: found.extend(values_in(traceback.walk_stack(sys._getframe(1))))}
        exec(compile(text, str(tmp_path / "task.py"), "exec"), space)
        space["run"](task, made)  # type: ignore[operator]
    finally:
        dist.destroy_process_group()
    assert found[0].values == {
        "task.mesh": "a DeviceMesh of rows, columns",
        "task.group": "the process group of ranks 1, 3",
        "task.places": "of length 1",
        "task.places[0]": "Shard(dim=1)",
        "task.names": "of length 2",
        "task.names[0]": "'a'",
        "made": "a DTensor with Shard(dim=0), Replicate()",
    }


def values(path: str, **read: str) -> list[FrameValues]:
    return [FrameValues(path, "train", {name.replace("__", "."): text for name, text in read.items()})]


def test_a_condition_is_told_with_the_values_that_differ(path: str) -> None:
    stacks = stack(path, ("outer", 15), ("train", 9)), stack(path, ("outer", 15), ("train", 11))
    told = plain_difference(stacks, (values(path, batches="of length 3"), []), (0, 1))
    assert told is not None and told.difference == "`len(batches) == 3` is true in rank 0, and false in rank 1."
    assert [(each.function, each.line) for each in told.stack] == [("outer", 15), ("train", 8)]


def test_of_several_the_condition_is_told_whose_values_differ(path: str) -> None:
    stacks = stack(path, ("train", 11)), stack(path, ("train", 12))
    sides = values(path, self__bad="0", self__limit="2"), values(path, self__bad="3", self__limit="2")
    told = plain_difference(stacks, sides, (0, 1))
    assert told is not None and told.line == 3
    assert (
        told.difference
        == "`self.bad > self.limit` leaves the loop by `break`. self.bad is 0 in rank 0, and 3 in rank 1."
    )
    told = plain_difference(stacks, ([], []), (0, 1))
    assert told is not None
    assert told.difference == "Rank 0 is in the loop `for batch in batches`, and rank 1 is not."


def test_a_loop_is_told_with_the_number_of_its_elements(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "def train(rank):\n    for step in range(4 - rank):\n        call()\n    call()\n"
    )
    path = str(tmp_path / "train.py")
    sides = values(path, rank="0"), values(path, rank="1")
    told = plain_difference((stack(path, ("train", 3)), stack(path, ("train", 4))), sides, (0, 1))
    assert told is not None
    assert told.difference == (
        "Rank 0 is in the loop `for step in range(4 - rank)`, and rank 1 is not. "
        "`range(4 - rank)` has 4 elements in rank 0, and 3 in rank 1."
    )


TRAINER = """\
def fit(task, loader):
    skipped = 0
    for name, batch in loader:
        try:
            step(task)
        except ValueError:
            skipped += 1
        if batch is None:
            continue
        call(batch)
    while skipped < 9:
        call(task)
        if task.stops(skipped):
            break
    with autocast(enabled=task.amp):
        pass
    call(2)

def step(task):
    task.clip(1)
    call(task)

class Task:
    def clip(self, norm):
        if not self.is_on:
            return
        if norm > self.limit:
            call(norm)
"""


@pytest.fixture
def trainer(tmp_path: Path) -> str:
    (tmp_path / "trainer.py").write_text(TRAINER)
    return str(tmp_path / "trainer.py")


def frames(path: str, *functions: tuple[str, dict[str, str]]) -> list[FrameValues]:
    return [FrameValues(path, function, values) for function, values in functions]


def told_of(
    path: str,
    ours: list[tuple[str, int]],
    theirs: list[tuple[str, int]],
    values: tuple[list[FrameValues], list[FrameValues]],
    before: list[tuple[str, int]] = [],  # noqa: B006
) -> tuple[int, str] | None:
    found = plain_difference(
        (stack(path, *ours), stack(path, *theirs)), values, (0, 1), EarlierCall(stack(path, *before))
    )
    return None if found is None else (found.line, found.difference)


def test_a_condition_is_told_of_a_function_that_one_rank_has_left(trainer: str) -> None:
    lines = [("fit", 5), ("step", 20), ("clip", 28)], [("fit", 5), ("step", 21)]
    inner = FrameValues(
        trainer, "clip", {"self.is_on": "True", "norm": "7", "self.limit": "2"}, [{"self": "task"}, {"self": "task"}]
    )
    ours = [inner, *frames(trainer, ("step", {"task.is_on": "True"}), ("fit", {}))]
    same = {"task.is_on": "True", "task.limit": "2"}
    told = told_of(trainer, *lines, (ours, frames(trainer, ("step", same))))
    assert told == (
        27,
        "`norm > self.limit` is true in rank 0, and false in rank 1. norm is 7 and self.limit is 2 in rank 0.",
    )
    off = {"task.is_on": "False", "task.limit": "2"}
    told = told_of(trainer, *lines, (ours, frames(trainer, ("step", off))))
    assert told == (
        25,
        "`not self.is_on` is true in rank 1, and false in rank 0. self.is_on is True in rank 0, and False in rank 1.",
    )


def test_the_collective_before_tells_which_comes_first(trainer: str) -> None:
    lines = [("fit", 5), ("step", 20), ("clip", 28)], [("fit", 10)]
    found = branches_apart(*(stack(trainer, *side) for side in lines))
    assert [each.function for each in found if each.kind != "setting"] == ["clip", "clip", "fit"]
    after = EarlierCall(stack(trainer, ("fit", 5), ("step", 21)))
    assert branches_apart(*(stack(trainer, *side) for side in lines), after)[0].function == "fit"


def test_what_leaves_a_loop_is_told_with_the_state_of_its_object(trainer: str) -> None:
    sides = (
        frames(trainer, ("fit", {"skipped": "3", "task": "a Task", "task.bad": "0"})),
        frames(trainer, ("fit", {"skipped": "3", "task": "a Task", "task.bad": "2"})),
    )
    told = told_of(trainer, [("fit", 12)], [("fit", 17)], sides)
    assert told == (13, "`task.stops(skipped)` leaves the loop by `break`. task.bad is 0 in rank 0, and 2 in rank 1.")


def test_an_error_that_was_caught_in_one_rank_is_told(trainer: str) -> None:
    sides = frames(trainer, ("fit", {"skipped": "0"})), frames(trainer, ("fit", {"skipped": "1"}))
    told = told_of(trainer, [("fit", 10)], [("fit", 17)], sides)
    assert told == (
        6,
        "`except ValueError` has run more often in rank 1. skipped is 0 in rank 0, and 1 in rank 1.",
    )
    named = frames(trainer, ("fit", {"skipped": "'a'"})), frames(trainer, ("fit", {"skipped": "'b'"}))
    told = told_of(trainer, [("fit", 10)], [("fit", 17)], named)
    assert told is not None and told[1].startswith("`except ValueError` has run in one of them alone.")


NOTED = """\
def fit(self, loader):
    for batch in loader:
        if batch.is_bad:
            self.bad += 1
            continue
        call(batch)
    call(1)

def run(self):
    total = sum(self.guarded(each) for each in self.batches)
    call(total)

def guarded(self, batch):
    try:
        call(batch)
    except ValueError as error:
        self.notes.append(error)
        return 0

def average(self):
    trained = list(self.trained)
    for each in reversed(trained):
        call(each.grad)
"""


@pytest.fixture
def noted(tmp_path: Path) -> str:
    (tmp_path / "noted.py").write_text(NOTED)
    return str(tmp_path / "noted.py")


def test_a_condition_that_counts_what_it_skips_is_told(noted: str) -> None:
    sides = frames(noted, ("fit", {"self.bad": "0"})), frames(noted, ("fit", {"self.bad": "2"}))
    assert told_of(noted, [("fit", 6)], [("fit", 7)], sides) == (
        3,
        "`batch.is_bad` has been true more often in rank 1. self.bad is 0 in rank 0, and 2 in rank 1.",
    )
    sides = frames(noted, ("fit", {"self.bad": "'a'"})), frames(noted, ("fit", {"self.bad": "'b'"}))
    told = told_of(noted, [("fit", 6)], [("fit", 7)], sides)
    assert told is not None and told[1].startswith("`batch.is_bad` has not been true as often in both.")


def test_a_handler_is_told_that_returns_to_a_loop_of_the_caller(noted: str) -> None:
    inner = FrameValues(noted, "guarded", {"self.notes": "of length 0"}, [{"self": "self"}, {"self": "self"}])
    sides = [inner, *frames(noted, ("run", {}))], frames(noted, ("run", {"self.notes": "of length 1"}))
    # the line at which both have met is in a comprehension, which one rank has left
    assert told_of(noted, [("run", 10), ("guarded", 15)], [("run", 11)], sides, [("run", 10)]) == (
        16,
        "`except ValueError` has run more often in rank 1. "
        "self.notes is of length 0 in rank 0, and of length 1 in rank 1.",
    )


def test_what_has_skipped_a_call_of_a_compiled_function_is_told(noted: str) -> None:
    lines = stack(noted, ("run", 10), ("guarded", 15)), stack(noted, ("run", 11))
    inner = FrameValues(noted, "guarded", {"self.notes": "of length 0"}, [{"self": "self"}])
    sides = [inner, *frames(noted, ("run", {}))], frames(noted, ("run", {"self.notes": "of length 1"}))
    found = skipped_before(lines[::-1], sides[::-1], (1, 0))
    assert found is not None and (found.line, found.ranks) == (16, "0")
    assert found.difference.startswith("`except ValueError` has run more often in rank 1.")
    assert skipped_before(lines, (sides[0], []), (0, 1)) is None


def test_at_one_line_the_loop_is_told_that_has_more_elements_in_one_rank(noted: str) -> None:
    line = [("average", 23)]
    sides = (
        frames(noted, ("average", {"trained": "of length 2"})),
        frames(noted, ("average", {"trained": "of length 4"})),
    )
    assert told_of(noted, line, line, sides) == (22, "`reversed(trained)` has 2 elements in rank 0, and 4 in rank 1.")
    assert told_of(noted, line, line, (sides[0], sides[0])) is None


def test_stages_of_a_pipeline_part_by_right_where_their_numbers_do(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "def train(rank):\n    if rank == 0:\n        call()\n    else:\n        call()\n"
    )
    path = str(tmp_path / "train.py")
    sides, lines = (values(path, rank="0"), values(path, rank="1")), (("train", 3), ("train", 5))
    stacks = stack(path, lines[0]), stack(path, lines[1])
    assert plain_difference(stacks, sides, (0, 1)) is not None
    assert plain_difference(stacks, sides, (0, 1), are_stages=True) is None


def test_a_condition_before_the_line_that_assigns_what_it_takes_is_told(tmp_path: Path) -> None:
    text = "def train(flat, settings):\n    if settings.small:\n        flat = flat.half()\n    call(flat)\n"
    (tmp_path / "train.py").write_text(text)
    path = str(tmp_path / "train.py")
    sides = values(path, settings__small="False"), values(path, settings__small="True")
    told = plain_difference((stack(path, ("train", 4)), stack(path, ("train", 4))), sides, (0, 1))
    assert told is not None and (told.line, told.difference) == (
        2,
        "`settings.small` decides it. settings.small is False in rank 0, and True in rank 1.",
    )


def test_the_condition_is_told_that_leaves_a_loop_as_long_in_all_ranks(tmp_path: Path) -> None:
    text = "def fit(n):\n    for epoch in range(n):\n        call(1)\n        if stop.is_due:\n            break\n"
    (tmp_path / "train.py").write_text(f"{text}\ndef main():\n    fit(4)\n    call(2)\n")
    path = str(tmp_path / "train.py")
    stacks = stack(path, ("main", 8), ("fit", 3)), stack(path, ("main", 9))
    told = plain_difference(stacks, (frames(path, ("fit", {"epoch": "1", "n": "4"})), []), (0, 1))
    assert told is not None and (told.line, told.difference) == (
        4,
        "`stop.is_due` is true in rank 1, and false in rank 0. epoch is 1 and n is 4 in rank 0.",
    )
    for last in ({"epoch": "3", "n": "4"}, {"epoch": "1"}):  # it may have come to its end
        told = plain_difference(stacks, (frames(path, ("fit", last)), []), (0, 1))
        assert told is not None and told.line == 2


def test_the_number_of_a_rank_is_no_cause_where_it_is_passed_to_the_programs_own_functions(trainer: str) -> None:
    sides = frames(trainer, ("fit", {"rank": "0"})), frames(trainer, ("fit", {"rank": "1"}))
    assert told_of(trainer, [("fit", 5), ("step", 21)], [("fit", 5), ("step", 21)], sides) is None


def test_a_handler_that_notes_nothing_is_told_with_its_loop(tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text(TRAINER.replace("skipped += 1", "pass"))
    path = str(tmp_path / "trainer.py")
    told = told_of(path, [("fit", 5), ("step", 21)], [("fit", 17)], ([], []))
    assert told == (
        3,
        "Rank 0 is in the loop `for name, batch in loader`, and rank 1 is not. "
        "`except ValueError` in it (trainer.py:6) goes on after an error, which one of them may have met.",
    )


def test_a_condition_that_passes_an_element_by_is_told_for_a_loop_of_which_no_more_is_known(tmp_path: Path) -> None:
    source = (
        "def fit(batches, least):\n    for batch in batches:\n        if len(batch) < least:\n            continue\n"
    )
    (tmp_path / "train.py").write_text(f"{source}        call(batch)\n    call(1)\n")
    path = str(tmp_path / "train.py")
    told = told_of(path, [("fit", 5)], [("fit", 6)], ([], []))
    assert told == (3, "Where `len(batch) < least`, the loop goes on with its next element.")
    sides = frames(path, ("fit", {"batches": "of length 3"})), frames(path, ("fit", {"batches": "of length 4"}))
    counted = told_of(path, [("fit", 5)], [("fit", 6)], sides)
    assert counted is not None and counted[0] == 2


def test_a_line_that_calls_a_function_which_one_rank_has_left_is_told_by_its_condition(tmp_path: Path) -> None:
    source = "def encode(self, key):\n    if key not in self.known:\n        call(key)\n    return self.known[key]\n"
    (tmp_path / "model.py").write_text(f"{source}def forward(self, key):\n    return decode(encode(self, key))\n")
    path = str(tmp_path / "model.py")
    told = told_of(path, [("forward", 6), ("encode", 3)], [("forward", 6)], ([], []))
    assert told == (2, "`key not in self.known` is true in rank 0, and false in rank 1.")


def test_at_one_line_what_skips_elements_and_contexts_are_told(trainer: str) -> None:
    sides = frames(trainer, ("fit", {"name": "'a'"})), frames(trainer, ("fit", {"name": "'b'"}))
    told = told_of(trainer, [("fit", 10)], [("fit", 10)], sides)
    assert told == (
        8,
        "Where `batch is None`, the loop goes on with its next element. name is 'a' in rank 0, and 'b' in rank 1.",
    )
    amp = frames(trainer, ("fit", {"task.amp": "True"})), frames(trainer, ("fit", {"task.amp": "False"}))
    told = told_of(trainer, [("fit", 17)], [("fit", 17)], amp)
    assert told == (
        15,
        "`with autocast(enabled=task.amp)` depends on it. task.amp is True in rank 0, and False in rank 1.",
    )
    assert told_of(trainer, [("fit", 17)], [("fit", 17)], (amp[0], amp[0])) is None


def test_a_loop_is_told_with_settings_that_differ(trainer: str) -> None:
    sides = (
        frames(trainer, ("fit", {"task.steps": "2", "task.rank": "0"})),
        frames(trainer, ("fit", {"task.steps": "4", "task.rank": "1"})),
    )
    told = told_of(trainer, [("fit", 10)], [("fit", 17)], sides)
    assert told == (
        3,
        "Rank 0 is in the loop `for name, batch in loader`, and rank 1 is not. "
        "task.steps is 2 in rank 0, and 4 in rank 1.",
    )


def test_a_group_or_a_placement_is_told_where_nothing_leads_to_the_line(trainer: str) -> None:
    for one, other in (
        ("a DTensor with Shard(dim=0)", "a DTensor with Replicate()"),
        ("the process group of ranks 0, 1", "the process group of ranks 1, 2"),
    ):
        sides = frames(trainer, ("step", {"task": one})), frames(trainer, ("step", {"task": other}))
        told = told_of(trainer, [("step", 20)], [("step", 21)], sides)
        assert told == (20, f"task is {one} in rank 0, and {other} in rank 1.")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("call(sums[name])", ("name", "part")),
        ("flat = part.grad.reshape(-1) / 2; call(flat)", ("name", "part")),
        ("kept = sums[name]; call(kept)", ("name", "part")),
        ("made = evaluated(part); call(made)", ()),
        ("call(other)", ()),
    ],
)
def test_elements_of_a_loop_are_known_where_a_line_reads_a_part_of_one(
    tmp_path: Path, body: str, names: tuple[str, ...]
) -> None:
    lines = "\n        ".join(body.split("; "))
    (tmp_path / "sums.py").write_text(f"def average(sums):\n    for name, part in sums.items():\n        {lines}\n")
    assert elements_read(str(tmp_path / "sums.py"), 3 + body.count("; ")) == names


def test_a_statement_of_a_loop_is_told_that_reads_another_setting(tmp_path: Path) -> None:
    text = """\
def epoch(self):
    for i, batch in enumerate(self.batches):
        last = (i + 1) % self.args.every == 0
        step(batch, last)

def main(trainer):
    trainer.epoch()
    end(trainer)
"""
    (tmp_path / "trainer.py").write_text(text)
    path = str(tmp_path / "trainer.py")
    ours, theirs = (frames(path, ("main", {"trainer.args.every": each})) for each in ("2", "3"))
    ours.insert(0, FrameValues(path, "epoch", {"self.args.every": "2"}, [{"self": "trainer"}]))
    told = told_of(path, [("main", 7), ("epoch", 4)], [("main", 8)], (ours, theirs))
    assert told == (
        3,
        "`last = (i + 1) % self.args.every == 0` reads another value in each. "
        "self.args.every is 2 in rank 0, and 3 in rank 1.",
    )


def test_an_element_is_known_to_be_skipped_where_collectives_are_of_other_modules(trainer: str) -> None:
    takes = "blocks.1.weight, blocks.1.bias (f32[36])", "blocks.2.weight, blocks.2.bias (f32[72])"
    stacks = stack(trainer, ("fit", 10)), stack(trainer, ("fit", 10))
    told = plain_difference(stacks, ([], []), (0, 1), takes=takes)
    assert told is not None and told.difference.startswith("Where `batch is None`, the loop goes on")
    assert plain_difference(stacks, ([], []), (0, 1), takes=(takes[0], takes[0])) is None


def test_a_function_that_is_called_after_the_one_in_which_ranks_met_comes_before_later_lines(tmp_path: Path) -> None:
    source = """\
def weights(model):
    for each in model: call(each)
def state(optimizer):
    for each in optimizer.state: call(each)
def resume(model, optimizer):
    weights(model)
    state(optimizer)
resume(model, optimizer)
call(1)
"""
    (tmp_path / "train.py").write_text(source)
    path = str(tmp_path / "train.py")
    called = stack(path, ("<module>", 8), ("resume", 7), ("state", 4))
    met = stack(path, ("<module>", 8), ("resume", 6), ("weights", 2))
    found = branches_apart(called, stack(path, ("<module>", 9)), EarlierCall(met))
    assert [each.text for each in found if each.kind == "loop"] == ["for each in optimizer.state"]


def test_parameters_that_are_frozen_in_one_rank_are_told() -> None:
    takes = "head.weight, head.bias (f32[36])", "blocks.1.weight, blocks.1.bias (f32[72])"
    frozen = [FrameValues("", FSDP_SETTINGS, {"blocks.1.weight": "False"})]
    told = "blocks.1.weight.requires_grad is False in rank 2, and True in rank 0."
    assert fsdp_difference(takes, (frozen, []), (2, 0)) == told
    assert fsdp_difference(takes[::-1], ([], frozen), (0, 2)) == told
    assert fsdp_difference(takes, ([], frozen), (0, 2)) == ""
    resharded, kept = (
        [FrameValues("", FSDP_SETTINGS, {"blocks.1.weight.reshard_after_forward": each})] for each in ("True", "False")
    )
    assert fsdp_difference(takes, (resharded, kept), (0, 2)) == (
        "reshard_after_forward of the module of blocks.1.weight is True in rank 0, and False in rank 2."
    )
    assert fsdp_difference(takes, (kept, kept), (0, 2)) == ""
    dtypes = [[FrameValues("", FSDP_SETTINGS, {"head.weight.param_dtype": each})] for each in ("bf16", "f32")]
    assert fsdp_difference((takes[0], takes[0]), (dtypes[0], dtypes[1]), (0, 2)) == (
        "param_dtype of the module of head.weight is bf16 in rank 0, and f32 in rank 2."
    )


def test_what_a_line_passes_is_told_that_one_rank_has_left(tmp_path: Path) -> None:
    (tmp_path / "plan.py").write_text("def main(model, plan):\n    model = parallelize(model, plan)\n    model(1)\n")
    path = str(tmp_path / "plan.py")
    stacks = stack(path, ("main", 2)), stack(path, ("main", 3))
    sides = [frames(path, ("main", {"plan": f"of length {length}"})) for length in (2, 1)]
    for before in (None, EarlierCall(stacks[0])):
        told = plain_difference(stacks, (sides[0], sides[1]), (0, 1), before)
        assert told is not None and (told.line, told.difference) == (
            2,
            "plan is of length 2 in rank 0, and of length 1 in rank 1.",
        )


def test_settings_of_ddp_that_differ_are_told(path: str) -> None:
    sides = [frames(path, ("train", {"ddp.find_unused_parameters": each})) for each in ("False", "True")]
    told = "ddp.find_unused_parameters is False in rank 0, and True in rank 1."
    assert ddp_difference((sides[0], sides[1]), (0, 1)) == ddp_difference((sides[1], sides[0]), (1, 0)) == (told, None)
    assert ddp_difference((sides[0], sides[0]), (0, 1)) == ddp_difference((sides[0], []), (0, 1)) == ("", None)


def test_no_escape_sequence_of_the_program_makes_python_warn(tmp_path: Path) -> None:
    text = """\
def f(x):
    pattern = "\\d\\\\d" + r"\\w\\\\" + "\\400" + 'it\\'s'
    if x:
        call(x)
    call(pattern)
"""
    (tmp_path / "escapes.py").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert names_read(str(tmp_path / "escapes.py"), 4) == ["x"]


def test_of_a_loop_that_a_rank_has_left_values_at_the_collective_before_are_told(trainer: str) -> None:
    stacks = stack(trainer, ("fit", 12)), stack(trainer, ("fit", 17))
    then = frames(trainer, ("fit", {"skipped": "1"})), frames(trainer, ("fit", {"skipped": "8"}))
    told = plain_difference(stacks, ([], []), (0, 1), EarlierCall(values=then))
    assert told is not None and (told.line, told.difference) == (
        11,
        "Rank 0 is in the loop `while skipped < 9`, and rank 1 is not. "
        "At the collective before, skipped is 1 in rank 0, and 8 in rank 1.",
    )


_POOL = """\
import torch.distributed as dist
keep = 2
kept = []
def save(pool, need):
    while len(kept) > keep:
        dist.barrier()
    while len(pool.free) < need:
        dist.barrier()
def main(pool):
    save(pool, 4)
    dist.barrier()
"""


@pytest.fixture
def pool(tmp_path: Path) -> str:
    (tmp_path / "pool.py").write_text(_POOL)
    return str(tmp_path / "pool.py")


def test_global_variables_are_known_in_a_function_that_a_rank_has_left(pool: str) -> None:
    assert globals_read(pool) == ["keep"]
    stacks = stack(pool, ("main", 10), ("save", 6)), stack(pool, ("main", 11))
    sides = frames(pool, ("save", {"keep": "1"})), frames(pool, ("<module>", {"keep": "2"}))
    told = plain_difference(stacks, sides, (0, 1))
    assert told is not None and (told.line, told.difference) == (
        5,
        "Rank 0 is in the loop `while len(kept) > keep`, and rank 1 is not: `len(kept) > keep` was true in rank 0, "
        "and false in rank 1. keep is 1 in rank 0, and 2 in rank 1.",
    )


_CAUGHT = """\
def drain(q):
    while q.left:
        call(next(q))
def main(q):
    try:
        drain(q)
    except StopIteration:
        pass
    done()
"""
_RETURNS = """\
def drain(q):
    if q.closed:
        return
    while q.left:
        call(next(q))
def main(q):
    drain(q)
    done()
"""


@pytest.mark.parametrize(("text", "lines"), [(_CAUGHT, (6, 3, 9)), (_RETURNS, (7, 5, 8))])
def test_a_loop_that_may_end_otherwise_has_no_condition_told(
    tmp_path: Path, text: str, lines: tuple[int, int, int]
) -> None:
    (tmp_path / "drain.py").write_text(text)
    path, (called, inside, after) = str(tmp_path / "drain.py"), lines
    told = plain_difference(
        (stack(path, ("main", called), ("drain", inside)), stack(path, ("main", after))), ([], []), (0, 1)
    )
    assert told is not None and "was true" not in told.difference


def test_values_that_a_rank_has_changed_since_its_loop_ended_are_not_told(pool: str) -> None:
    stacks = stack(pool, ("main", 10), ("save", 8)), stack(pool, ("main", 11))
    inside = frames(pool, ("save", {"len(pool.free)": "2", "need": "4"}), ("main", {"pool": "a Pool"}))
    inside[0].objects = [{"pool": "pool"}]
    for length, told_of_other in ((1, ""), (5, ", and 5 in rank 1")):
        left = frames(pool, ("main", {"pool": "a Pool", "pool.free": f"of length {length}"}))
        told = plain_difference(stacks, (inside, left), (0, 1))
        assert told is not None and told.line == 7
        one = "len(pool.free) is 2" + (" and need is 4" if not told_of_other else "")
        assert told.difference.endswith(f"and false in rank 1. {one} in rank 0{told_of_other}.")


def test_a_handler_that_returns_is_told_where_nothing_else_leads_elsewhere(tmp_path: Path) -> None:
    text = "def mean():\n    try:\n        score = ratio(a, b)\n    except ZeroDivisionError:\n        return 0\n"
    (tmp_path / "metric.py").write_text(f"{text}    call()\n\ndef main():\n    mean()\n    call()\n")
    path = str(tmp_path / "metric.py")
    stacks = stack(path, ("main", 9), ("mean", 6)), stack(path, ("main", 10))
    told = plain_difference(stacks, (frames(path, ("mean", {"a": "6", "b": "2"})), []), (0, 1))
    assert told is not None and (told.line, told.difference) == (
        4,
        "`except ZeroDivisionError` has run in rank 1, and not in rank 0. a is 6 and b is 2 in rank 0.",
    )
