"""A test that stands for a capability has to have used it (`test_features.USED`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dap.capability_use import USES
from tests.dap.client import SENT


@pytest.fixture(autouse=True)
def uses_its_capabilities(request: pytest.FixtureRequest) -> Iterator[None]:
    from tests.dap.test_features import USED

    function = getattr(request, "function", None)
    wanted = [name for name, test in USED.items() if test is function]
    before = len(SENT)
    yield
    for name in wanted:
        assert any(map(USES[name], SENT[before:])), f"the test of {name} has not used it"
