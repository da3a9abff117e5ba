"""What torch logs once is logged for the program, also where a trace on the side has met it first."""

from __future__ import annotations

import logging

import pytest
from dynascope.agent.speculation.first_calls import FirstCalls
from torch._logging._internal import warning_once

pytestmark = pytest.mark.second_leg


def test_what_is_logged_once_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("dynascope.test")
    warning_once(logger, "before %s", __name__)
    first_calls = FirstCalls()
    for _ in range(2):
        warning_once(logger, "before %s", __name__)
        warning_once(logger, "on the side %s", __name__)
        first_calls.forget_all()
    assert [record.msg for record in caplog.records] == ["before %s", "on the side %s", "on the side %s"]
