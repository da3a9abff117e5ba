"""The search of a workspace for what can be predicted: what is read, what is kept, and when nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from dynascope_lsp.documents.text import Text
from dynascope_lsp.prediction import project
from dynascope_lsp.prediction.project import Project
from dynascope_lsp.prediction.sites import mentions_compile
from dynascope_lsp.serving import create_server
from dynascope_lsp.session import LspSession
from dynascope_lsp.settings import Settings
from lsprotocol import types
from pygls.workspace import Workspace

SITE = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"


def session_in(folder: Path, settings: Settings) -> LspSession:
    """Of a client that has said its settings."""
    server = create_server()
    session = LspSession(server)
    workspace_folder = types.WorkspaceFolder(folder.as_uri(), folder.name)
    server.protocol._workspace = Workspace(folder.as_uri(), workspace_folders=[workspace_folder])
    session.use(settings)
    session.configured = True
    return session


def search(session: LspSession) -> None:
    while session.searching:
        session.search()


def test_a_workspace_is_searched_once(tmp_path: Path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "train.py").write_text(SITE)
    (tmp_path / "words.py").write_text("import re\nimport torch\n\nWORD = re.compile('a')  # not torch.compile(f)\n")
    session = session_in(tmp_path, Settings())
    search(session)
    assert session.project.paths() == {str(tmp_path / "inner" / "train.py")}
    assert not session.search()


def test_nothing_is_read_while_predictions_are_off(tmp_path: Path):
    (tmp_path / "train.py").write_text(SITE)
    session = session_in(tmp_path, Settings(predictions=False))
    session.file_changed((tmp_path / "train.py").as_uri())
    assert not session.searching and not session.search()
    session.use(Settings())
    search(session)
    assert session.project.paths() == {str(tmp_path / "train.py")}
    session.use(Settings(predictions=False))
    assert session.project.paths() == set()


def test_nothing_is_searched_before_the_settings_are_known(tmp_path: Path):
    (tmp_path / "train.py").write_text(SITE)
    session = session_in(tmp_path, Settings())
    session.configured = False
    assert not session.searching and not session.search()


def test_syntax_trees_of_a_few_files_are_kept(tmp_path: Path):
    long = "".join(f"value_{number} = {number}\n" for number in range(3000))
    for number in range(12):
        (tmp_path / f"train_{number}.py").write_text(SITE + long)
    session = session_in(tmp_path, Settings())
    search(session)
    assert len(session.project.paths()) == 12
    kept = [len(module.text.lines) for _, module in session.project._modules.values()]
    assert 3000 < sum(kept) <= project.LINES_KEPT


def test_a_module_that_leads_everywhere_is_followed_so_far(tmp_path: Path):
    long = "".join(f"value_{number} = {number}\n" for number in range(3000))
    for number in range(20):
        (tmp_path / f"part_{number}.py").write_text(f"from part_{number + 1} import g\n\n\ndef f(x): g(x)\n{long}")
    (tmp_path / "train.py").write_text("from part_0 import g\n" + SITE.replace("print(x)", "g(x)"))
    session = session_in(tmp_path, Settings())
    search(session)
    looked_at = session.project._analyses[str(tmp_path / "train.py")].versions
    assert 2 < len(looked_at) < 20


def test_where_compile_may_be_meant():
    for code in (
        "m = torch.compile(f)",
        "@torch.compile",
        "c = torch.compile",
        "m.compile()",
        "partial(torch.compile, f)",
    ):
        assert mentions_compile(f"import torch\n{code}\n"), code
    assert mentions_compile("from torch import compile as jit\n")
    for code in ("re.compile('torch')", "# torch.compile(f)", "'''See `torch.compile`.'''", "recompile(x)"):
        assert not mentions_compile(f"import re, torch\n{code}\n"), code


def test_a_long_file_is_followed_between_requests(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(project, "LEFT_ALONE_SECONDS", 0)
    monkeypatch.setattr(project, "SECONDS_ON_REQUEST", 0)
    text = Text(SITE + "x = 1\n" * project.LINES_ON_REQUEST)
    found = Project(lambda path: text, list)

    def lines() -> list[int]:
        return [each.line for each in found.predictions("/train.py")]

    def search_all() -> None:
        while found.searching:
            found.scan()

    assert lines() == []
    search_all()
    assert lines() == [6]
    generation = found.generation
    text = Text("\n\n" + text.source)
    assert lines() == [8]  # of before the edit, moved
    text = Text(text.source.replace("return x", "print(x)"))
    search_all()
    assert lines() == [8, 9]
    assert found.generation > generation
    text = Text(text.source.replace("    print(x)\n", "    x = x + 1\n", 1))
    assert lines() == [9]  # what stands on an edited line is not known
