"""Ranks of a job that compile the same: their facts are stored once, and one rank is shown for all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from dynascope.cli import main
from dynascope.explain.not_recorded import ending
from dynascope.facts import model
from dynascope.facts.distinct import distinct
from dynascope.facts.generated import recorded
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.launches import launches, remove
from dynascope.facts.process_names import as_shown, compile_names
from dynascope.facts.reader import Reader
from dynascope.facts.writer import Writer
from dynascope.report.generated import NotRecorded, compile_named
from dynascope.report.summary import Summary, summarize
from msgspec import structs

from tests.support.facts import sample

LAUNCH = "launch 1"
Change = Callable[[model.CompileFacts], object]


class Job:
    """The ranks of a job, and what each compiles."""

    def __init__(self, folder: Path, sources: Path | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.path = folder, folder / ".dynascope" / "facts.db"
        self._paths = [str(path) for path in sample.write_workspace(sources or folder)]
        self._writers: dict[int, Writer] = {}

    def compiles(self, rank: int, number: int = 0, change: Change = lambda facts: None) -> int:
        """Write a compile of a rank, `0/number`, and return its number in the store."""
        if rank not in self._writers:
            run = structs.replace(sample.new_run(self.folder, LAUNCH), rank=rank, pid=4711 + rank)
            self._writers[rank] = Writer(self.path, run)
        facts = (sample.second_compile if number else sample.first_compile)(*self._paths)
        facts.compile.compile_id = f"0/{number}"
        facts.compile.began += rank
        facts.compile.seconds += 0.1 * rank
        change(facts)
        return self._writers[rank].write(facts)

    def reader(self) -> Reader:
        return Reader.open(self.path)

    def summary(self) -> Summary:
        with self.reader() as reader:
            return summarize(reader, LAUNCH)

    def shown(self) -> list[str]:
        """The compiles that are shown, with their processes."""
        found = self.summary()
        return [found.names[each.id] for each in found.compiles]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def other_shape(facts: model.CompileFacts) -> None:
    facts.tensors[0].value = "f32[9, 16]"


def test_equal_compiles_are_stored_once_and_read_by_each_number(job: Job) -> None:
    numbers = [job.compiles(rank) for rank in (1, 0, 2)]
    with job.reader() as reader:
        (shown,) = reader.compiles(LAUNCH)
        assert shown.id == numbers[1] and reader.runs()[1].alike == [0, 1, 2]
        assert reader.execute("SELECT count(*) FROM tensor").fetchone() == (5,)
        read = [reader.compile(number) for number in numbers]
        assert [each.id for run in reader.runs() for each in reader.compiles_of(run.id)] == numbers[::-1]
        assert [each.compile.seconds for each in read if each] == [1.35, 1.25, 1.45]
        assert [{fact.compile for fact in each.tensors} for each in read if each] == [{number} for number in numbers]
        assert {len(recorded.graphs(reader, number)) for number in numbers} == {1}
        assert {tuple(recorded.kinds(reader, number)) for number in numbers} == {
            tuple(recorded.kinds(reader, shown.id))
        }
        view = reader.view(job._paths[0])
        assert view is not None and {each.compile for each in view.facts("tensors")} == {shown.id}
        assert distinct(view, "tensors")[0].compiles == [shown.id]
    told = job.summary()
    assert told.processes == "ranks 0-2" and told.ranks == "3 ranks compiled alike."
    assert job.shown() == ["0/0"]


def test_what_one_rank_alone_compiles_is_shown_with_its_rank(job: Job) -> None:
    for rank in (0, 1, 2):
        job.compiles(rank)
    job.compiles(2, 1)
    job.compiles(0, 1, other_shape)
    assert job.shown() == ["rank 0: 0/0", "rank 2: 0/0", "rank 2: 0/1", "rank 0: 0/1"]
    job.compiles(1, 1)
    assert sorted(job.shown()) == ["rank 0: 0/0", "rank 0: 0/1", "ranks 1, 2: 0/0", "ranks 1, 2: 0/1"]
    with job.reader() as reader:
        facts = reader.facts("recompiles", LAUNCH)
        breaks = reader.facts("graph_breaks", LAUNCH)
        assert len(facts) == len(breaks) == 2 and len({each.compile for each in breaks}) == 2
        view = reader.view(job._paths[1])
        assert view is not None and len(view.facts("graph_breaks")) == 2
        (merged,) = distinct(view, "graph_breaks")
        assert merged.compiles == view.compile_numbers[:2] and merged.fact.compile == merged.compiles[-1]
        (launch,) = launches(reader)
    assert (launch.compiles, launch.breaks, launch.recompiles, len(launch.compiling)) == (4, 4, 2, 3)


def test_a_rank_that_was_killed_is_shown_with_those_that_went_on(job: Job) -> None:
    for rank in range(4):
        job.compiles(rank)
        if rank != 2:
            job.compiles(rank, 1)
    told = job.summary()
    assert [run.alike for run in told.runs if run.alike] == [[0, 1, 3]] and job.shown() == ["0/0", "0/1"]
    assert told.processes == "ranks 0-3" and told.ranks == "The ranks compiled in 2 ways: ranks 0, 1, 3; rank 2."
    with job.reader() as reader:
        assert compile_named(reader, LAUNCH, "rank 2: 0/0").compile_id == "0/0"
        with pytest.raises(NotRecorded, match=r"No compile rank 2: 0/1 is recorded"):
            compile_named(reader, LAUNCH, "rank 2: 0/1")


def test_a_rank_that_did_not_end_is_named_by_itself(job: Job) -> None:
    parent = Writer(job.path, sample.new_run(job.folder, LAUNCH))
    for rank in range(4):
        job.compiles(rank)
    for rank in (0, 1, 3):
        job.compiles(rank, 1)
        if rank:
            job._writers[rank].close()
    parent.close()
    told = job.summary()
    assert ending(told.runs, told.compiling).startswith("ranks 0, 2: ended from outside")


def test_a_rank_that_torchrun_starts_again_is_not_shown_by_itself(job: Job) -> None:
    for _ in range(2):
        for rank in range(3):
            job.compiles(rank)
        job._writers.clear()
    told = job.summary()
    assert [run.alike for run in told.runs if run.alike] == [[0, 1, 2], [0, 1, 2]] and len(told.compiles) == 2
    assert told.processes == "ranks 0-2"


def test_what_is_compiled_twice_is_stored_twice(job: Job) -> None:
    for rank in (0, 1):
        job.compiles(rank), job.compiles(rank)
    assert job.shown() == ["0/0", "after reset: 0/0"]
    job.compiles(1)
    assert job.shown() == ["0/0", "after reset: 0/0", "after reset 2: 0/0"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("f32[8] cuda:{}", 1),
        ("f32[8] cuda:{0} cuda:1{0}", 1),
        ("cuda:0", 1),
        ("check_tensor(L['x'], Tensor, torch.float32, device={}, requires_grad=False)", 1),
        ("zeros(2, device=device(type='cuda', index={}))", 1),
        ("select(x, dim=0, index={})", 3),
        ("full((2,), 100000000{})", 3),
        ("___check_type_id(L['self'], 14009859555{}), type=<class 'dict'>", 1),
        ("___check_obj_id(G['f'], 9393343469707{0}{0}{0})", 1),
        ("___check_fake_script_type(G['dist'].group.WORLD, 9456838104643{}), type=<class 'ProcessGroup'>", 1),
        ("___check_metadata_9456838104643{}_c1/0, check(x.metadata)", 1),
        ("___check_opaque_guard_fn_9456838104643{}_c1/0", 1),
        ("L['n'] == 100000000{}", 3),
        ("__compiled_fn_9_312cfe7{}_d429_411d_9568_c6566756136e", 1),
        ("__compiled_fn_{}_312cfe70_d429_411d_9568_c6566756136e", 3),
        ("<function f at 0x7f00aa{}>", 1),
    ],
)
def test_ranks_may_differ_in_their_device_and_in_addresses(job: Job, text: str, shown: int) -> None:
    for rank in range(3):
        job.compiles(rank, 0, lambda facts, rank=rank: setattr(facts.tensors[0], "value", text.format(rank)))
    assert len(job.shown()) == shown


def test_processes_that_are_no_ranks_are_shown_each(job: Job) -> None:
    for _ in range(2):
        writer = Writer(job.path, sample.new_run(job.folder, LAUNCH))
        writer.write(sample.first_compile(*job._paths))
    assert len(job.shown()) == 2


def test_a_rank_that_is_not_shown_can_be_asked_for(job: Job) -> None:
    for rank in (0, 1):
        job.compiles(rank)
    job.compiles(0, 1), job.compiles(1, 1)
    with job.reader() as reader:
        assert [compile_named(reader, LAUNCH, name).compile_id for name in ("0/1", "rank 1: 0/1", "[rank 0: 0/0]")] == [
            "0/1",
            "0/1",
            "0/0",
        ]
        compiles, runs = reader.compiles(LAUNCH), reader.runs()
        for unknown in ("rank 7: 0/1", "rank 1: 3/0", "0/1"):
            assert as_shown(unknown, compiles, runs, reader) == unknown
        assert as_shown("rank 1, after reset: 0/1", compiles, runs, reader) == "after reset: 0/1"
        assert "rank 1: 0/1" not in compile_names(compiles, runs).values()


def test_what_is_known_later_of_an_equal_compile_is_stored_once(job: Job) -> None:
    numbers = [job.compiles(rank) for rank in (0, 1)]
    for rank, reason in ((1, "mutated inputs"), (0, "cpu device"), (1, "cpu device")):
        job._writers[rank].write_later("0/0", model.CudaGraphsSkipped(path="", line=0, reason=reason))
        job._writers[rank].write_later("0/0", LaterForm("output code", f"of rank {rank}"))
    with job.reader() as reader:
        facts = reader.compile(numbers[1])
        assert facts is not None
        assert [each.reason for each in facts.cuda_graphs_skipped] == ["mutated inputs", "cpu device"]
        assert [each.heading for each in recorded.forms(reader, numbers[1])][2:] == ["of rank 0"]


def test_a_job_is_removed_whole_or_not_at_all(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in range(3):
        job.compiles(rank)
    monkeypatch.setattr("dynascope.facts.launches.is_running", lambda host, pid: pid == 4712)
    assert remove(job.path) == 3
    monkeypatch.setattr("dynascope.facts.launches.is_running", lambda host, pid: False)
    assert remove(job.path) == 0
    with job.reader() as reader:
        assert reader.runs() == [] and reader.execute("SELECT count(*) FROM string").fetchone() == (0,)


def test_the_stores_of_hosts_become_one_job(tmp_path: Path) -> None:
    for host in range(3):
        job = Job(tmp_path / f"host{host}", tmp_path)
        for rank in (2 * host, 2 * host + 1):
            job.compiles(rank)
            job.compiles(rank, 1, other_shape if rank == 3 else lambda facts: None)
    folders = [str(tmp_path / f"host{host}") for host in range(3)]
    result = CliRunner().invoke(main, ["import", "--facts", str(tmp_path / "facts"), *folders])
    assert result.output == f"12 compiles of 6 processes, from 3 hosts, are in {tmp_path / 'facts' / 'facts.db'}.\n"
    with Reader.open(tmp_path / "facts" / "facts.db") as reader:
        told = summarize(reader, reader.newest_launch() or "")
        assert [run.alike for run in told.runs if run.alike] == [[0, 1, 2, 4, 5]]
        assert len(recorded.graphs(reader, told.compiles[0].id)) == 1
    assert told.processes == "ranks 0-5" and sorted(told.names.values())[0] == "rank 3: 0/0"


@pytest.mark.parametrize(
    ("folders", "told"),
    [
        (["b/.dynascope", "a/.dynascope"], "is where the facts would be written. Choose another with --facts.\n"),
        (["c", "b"], "{0}/c has none. Import torch's logs with a command of their own.\n"),
        (
            ["c"],
            "There is no dedicated_log_torch_trace_*.log in {0}/c. Run the program with TORCH_TRACE={0}/c first.\n",
        ),
    ],
)
def test_what_cannot_be_imported_is_said(tmp_path: Path, folders: list[str], told: str) -> None:
    for name in ("a", "b"):
        Job(tmp_path / name).compiles(0)
    (tmp_path / "c").mkdir()
    chosen = [str(tmp_path / name) for name in folders]
    result = CliRunner().invoke(main, ["import", "--facts", str(tmp_path / "a" / ".dynascope"), *chosen])
    assert result.exit_code == 1 and result.output.endswith(told.format(tmp_path))
    with Reader.open(tmp_path / "a" / ".dynascope" / "facts.db") as reader:
        assert len(reader.runs()) == 1


def test_ranks_that_each_have_their_part_of_one_tensor_compile_the_same(job: Job):
    def part(offset: int, strides: str = "") -> Change:
        def change(facts: model.CompileFacts) -> None:
            facts.call = model.CompiledCall([("x", "f32[8, 16]")], layouts=[("x", strides, offset)])

        return change

    job.compiles(0, change=part(0))
    for rank in (1, 2):
        job.compiles(rank, change=part(128 * rank))
    job.compiles(3, change=part(0, "dense in order 1, 0"))
    assert job.shown() == ["ranks 0-2: 0/0", "rank 3: 0/0"]
