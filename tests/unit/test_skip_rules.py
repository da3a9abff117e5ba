"""What Dynamo says of a file that the debugger knows by its real path."""

import sys
from pathlib import Path
from types import SimpleNamespace

from dynascope.agent.internals.codegen import generated


def test_a_package_behind_a_symbolic_link_is_asked_about_as_it_was_imported(tmp_path: Path, monkeypatch):
    real = tmp_path / "real" / "torch"
    real.mkdir(parents=True)
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "real")
    asked = []

    def check_file(path: str, is_inlined_call: bool = False) -> SimpleNamespace:
        asked.append(path)
        return SimpleNamespace(skipped=path.startswith(str(linked)), reason="MOD_SKIPLIST")

    rules = SimpleNamespace(check_file=check_file, __file__=str(linked / "torch" / "_dynamo" / "trace_rules.py"))
    monkeypatch.setitem(sys.modules, "torch._dynamo.trace_rules", rules)
    assert generated.why_file_is_skipped(str(real / "nn.py")) == "MOD_SKIPLIST"
    assert set(asked) == {str(linked / "torch" / "nn.py")}
    assert generated.why_file_is_skipped(str(tmp_path / "mine.py")) is None
