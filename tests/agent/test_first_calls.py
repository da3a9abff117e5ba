"""What torch logs or warns of once is told to the program, also where a trace on the side has met it first."""

from __future__ import annotations

import logging

import pytest
from dynascope.agent.speculation.first_calls import FirstCalls
from torch._dynamo.utils import warn_once
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


def test_what_dynamo_warns_of_once_is_warned_of_again() -> None:
    warn_once(f"before {__name__}")
    first_calls = FirstCalls()
    with pytest.warns(UserWarning) as given:
        for _ in range(2):
            warn_once(f"before {__name__}")
            warn_once(f"on the side {__name__}")
            first_calls.forget_all()
    assert [str(each.message) for each in given] == 2 * [f"on the side {__name__}"]
