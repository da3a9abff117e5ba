"""What the debugger has torch do gives no warnings, and takes none from the program."""

from __future__ import annotations

import threading
import warnings

import pytest
from dynascope.agent.isolation.unseen import unlogged


def warn(times: int = 1) -> None:
    for _ in range(times):
        warnings.warn("as ordered", UserWarning, stacklevel=1)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keep the texts of warnings of users that are shown, each once a line as by default."""
    texts: list[str] = []
    monkeypatch.setattr(warnings, "_showwarnmsg", lambda message: texts.append(str(message.message)))
    monkeypatch.setattr(
        warnings, "filters", [("default", None, UserWarning, None, 0), ("ignore", None, Warning, None, 0)]
    )
    warnings._filters_mutated()  # type: ignore[attr-defined]
    return texts


def test_a_warning_is_the_programs_alone(shown: list[str]) -> None:
    with unlogged():
        warn()
        with unlogged():
            warn()
    assert not shown
    warn(3)
    assert shown == ["as ordered"]


def test_what_was_shown_is_not_shown_again(shown: list[str]) -> None:
    warn()
    with unlogged():
        warn()
    warn()
    assert shown == ["as ordered"]


def test_other_threads_warn(shown: list[str]) -> None:
    with unlogged():
        other = threading.Thread(target=warn)
        other.start()
        other.join()
    assert shown == ["as ordered"]
