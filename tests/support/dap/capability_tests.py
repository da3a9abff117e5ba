"""Which test stands for a capability: the one marked with `@pytest.mark.capability("supports…")`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.dap.capability_use import USES
from tests.support.dap.client import SENT
from tests.support.marks import ROOT

_MARK = re.compile(r'^@pytest\.mark\.capability\("(\w+)"\)$', re.MULTILINE)


def files_by_capability() -> dict[str, str]:
    """Return the file of each capability's test, relative to the root, in the order of files and lines."""
    return {
        capability: str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for capability in _MARK.findall(path.read_text())
    }


@pytest.fixture(autouse=True)
def uses_its_capabilities(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that stands for a capability and has not used it."""
    before = len(SENT)
    yield
    for mark in request.node.iter_markers("capability"):
        name = mark.args[0]
        assert any(map(USES[name], SENT[before:])), f"the test of {name} has not used it"
