"""What is written is what is read; by file, by launch; and what is not ours is told and left alone."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from dynascope.facts import model, store
from dynascope.facts.comparison.recorded import NotComparable, compared
from dynascope.facts.generated import recorded
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.reader import Reader
from dynascope.facts.schema import FACTS, VERSION
from dynascope.facts.writer import Writer

from tests.support.facts import sample


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return sample.write_sample(tmp_path)


def test_a_compile_comes_back_as_it_was(written: Path, tmp_path: Path):
    paths = [str(tmp_path / name) for name in ("model.py", "layers.py")]
    with Reader.open(written) as reader:
        compiles = reader.compiles()
        assert [each.compile_id for each in compiles] == ["0/0", "0/1", ""]
        for number, expected in ((0, sample.first_compile(*paths)), (1, sample.second_compile(*paths))):
            found = reader.compile(compiles[number].id)
            assert found is not None
            for name in FACTS:
                assert sorted(map(stripped, getattr(found, name))) == sorted(map(stripped, getattr(expected, name))), (
                    name
                )


def test_graphs_and_bytecode_come_back_as_they_were(written: Path, tmp_path: Path):
    expected = sample.first_compile(*[str(tmp_path / name) for name in ("model.py", "layers.py")])
    with Reader.open(written) as reader:
        first, second, _ = reader.compiles()
        assert recorded.graphs(reader, first.id) == expected.graphs
        assert recorded.bytecode(reader, first.id) == expected.bytecode
        assert recorded.kinds(reader, first.id) == {"graphs", "bytecode"}
        assert recorded.forms(reader, first.id) == expected.forms
        assert [each.is_graph for each in recorded.form_names(reader, first.id)] == [True, False]
        assert (recorded.graphs(reader, second.id), recorded.bytecode(reader, second.id)) == ([], None)
        assert recorded.forms(reader, second.id) == []


def test_forms_made_later_follow_those_of_the_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dynascope.facts.writer.FORMS_KEPT", 4)
    writer = Writer(tmp_path / "facts.db", sample.new_run(tmp_path))
    facts = sample.first_compile("/p/model.py", "/p/layers.py")
    number = writer.write(facts)
    for name in ("output code", "backward output code", "one too many"):
        writer.write_later(facts.compile.compile_id, LaterForm(name, "by Inductor", text=name))
    writer.close()
    with Reader.open(tmp_path / "facts.db") as reader:
        names = ["inference graph", "output code", "output code (2)", "backward output code"]
        assert [each.name for each in recorded.forms(reader, number)] == names
        second = recorded.form_named(reader, number, "output code (2)")
        assert second is not None and second.text == "output code"
        assert recorded.form_named(reader, number, "one too many") is None


def stripped(fact: model.Fact) -> str:
    return repr([getattr(fact, name) for name in fact.__struct_fields__ if name not in ("compile", "source")])


def test_a_view_shows_one_file(written: Path, tmp_path: Path):
    with Reader.open(written) as reader:
        view = reader.view(str(tmp_path / "layers.py"))
        assert view is not None
        assert [(each.line, each.registry_id, each.count) for each in view.facts("graph_breaks")] == [(5, "GB0170", 2)]
        assert [frame.line for frame in view.facts("graph_breaks")[0].stack] == [15, 8, 5]
        assert view.graph_breaks_below() == []
        assert [each.name for each in view.facts("tensors")] == ["h"]
        caller = reader.view(str(tmp_path / "model.py"))
        assert caller is not None
        assert [each.line for each in caller.graph_breaks_below()] == [5]
        assert [each.line for each in caller.facts("tensors", 7, 8)] == [7, 7, 8]
        assert [each.function for each in caller.compiles() if each.status == "skipped"] == ["log_step"]
        (source,) = caller.sources.values()
        assert source.line_hashes == model.hash_lines(sample.MODEL)
        assert reader.view(str(tmp_path / "never traced.py")) is None


def test_a_view_is_of_what_holds_now(written: Path, tmp_path: Path):
    model_path, layers_path = map(str, (tmp_path / "model.py", tmp_path / "layers.py"))
    writer = Writer(written, sample.new_run(tmp_path, "launch 2"))
    with Reader.open(written) as reader:
        before = reader.data_version()
        writer.write(sample.second_compile(model_path, layers_path))
        assert reader.data_version() != before
        view = reader.view(model_path)
        assert view is not None
        assert [(each.compile_id, each.run) for each in view.compiles()] == [("0/0", 1), ("", 1), ("0/1", 2)]
        first = reader.view(model_path, "launch 1")
        assert first is not None and len(first.compiles()) == 3
        writer.close()
        finished = reader.view(model_path)
        assert finished is not None and [each.run for each in finished.compiles()] == [2]


def test_an_edited_file_is_another_source(written: Path, tmp_path: Path):
    path = tmp_path / "model.py"
    path.write_text("# moved\n" + sample.MODEL)
    writer = Writer(written, sample.new_run(tmp_path, "launch 2"))
    writer.write(sample.second_compile(str(path), str(tmp_path / "layers.py")))
    writer.close()
    with Reader.open(written) as reader:
        view = reader.view(str(path))
        assert view is not None
        (source,) = view.sources.values()
        assert source.line_hashes[1:] == model.hash_lines(sample.MODEL)


def test_files_are_private_and_ignored_by_git(written: Path):
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert (written.parent / ".gitignore").read_text() == "*\n"
    assert sorted(each.name for each in written.parent.iterdir() if "facts" in each.name and each.name[0] == ".") == []


def test_a_missing_store_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(store.StoreMissing, match="dynascope run"):
        Reader.open(tmp_path / "facts.db")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be taken for one " * 40, b"\x00" * 8192])
def test_a_damaged_store_is_left_alone(tmp_path: Path, content: bytes):
    path = tmp_path / "facts.db"
    path.write_bytes(content)
    for attempt in (lambda: Reader.open(path), lambda: Writer(path, sample.new_run(tmp_path))):
        with pytest.raises(store.StoreUnreadable, match=r"facts\.db"):
            attempt()
    assert path.read_bytes() == content


def test_a_foreign_store_is_left_alone(tmp_path: Path):
    path = tmp_path / "facts.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (id)")
    connection.close()
    content = path.read_bytes()
    for attempt in (lambda: Reader.open(path), lambda: Writer(path, sample.new_run(tmp_path))):
        with pytest.raises(store.StoreUnreadable, match="not a store of Dynascope's"):
            attempt()
    assert path.read_bytes() == content


def test_a_store_of_another_version_is_left_alone(written: Path, tmp_path: Path):
    connection = sqlite3.connect(written)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    content = written.read_bytes()
    for attempt in (lambda: Reader.open(written), lambda: Writer(written, sample.new_run(tmp_path))):
        with pytest.raises(store.StoreUnreadable, match="another Dynascope"):
            attempt()
    assert written.read_bytes() == content


def test_compiles_without_lines_are_not_compared(written: Path):
    with sqlite3.connect(written) as connection:
        connection.execute("DELETE FROM document WHERE kind GLOB 'trail *'")
    connection.close()
    with Reader.open(written) as reader:
        first, second = reader.compiles()[:2]
        with pytest.raises(NotComparable, match=r"The lines of 0/0 are not recorded: .* imported from a log"):
            compared(reader, first, second)


def test_many_processes_may_make_the_store_at_once(tmp_path: Path):
    sample.write_workspace(tmp_path)
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=write_three, args=(tmp_path, index)) for index in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    with Reader.open(tmp_path / "facts.db") as reader:
        assert len(reader.compiles()) == 12
        assert len(reader.runs()) == 4


def write_three(folder: Path, index: int) -> None:
    writer = Writer(folder / "facts.db", sample.new_run(folder, f"launch {index}"))
    for _ in range(3):
        writer.write(sample.first_compile(str(folder / "model.py"), str(folder / "layers.py")))
    writer.close()


def test_a_fork_is_noticed(written: Path, tmp_path: Path):
    writer = Writer(written, sample.new_run(tmp_path))
    assert writer.belongs_to_this_process()
    child = os.fork()
    if child == 0:
        os._exit(not writer.belongs_to_this_process())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    writer.close()
