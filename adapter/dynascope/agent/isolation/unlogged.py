"""Keep what the debugger has torch do out of torch's logs, and the warnings it gives from being shown."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

_SHOW = "_showwarnmsg"
"""The function of `warnings` that Python calls for each warning that its filters let pass (3.6)."""
_lock = threading.Lock()
_given: dict[int, list[Any]] = {}
"""The warnings that were not shown, for each thread (by its ident) that is in `unlogged`."""
_replaced: list[Any] = []


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keep this thread's log records of torch, and its warnings, from being shown."""
    here, known = threading.get_ident(), list(logging.Logger.manager.loggerDict.items())
    loggers = [each for name, each in known if name.startswith("torch.") and isinstance(each, logging.Logger)]

    def is_of_another(record: logging.LogRecord) -> bool:
        return record.thread != here

    for logger in loggers:
        logger.addFilter(is_of_another)
    try:
        with _not_warned(here):
            yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_another)


@contextlib.contextmanager
def _not_warned(here: int) -> Iterator[None]:
    """Show none of a thread's warnings, and let each be shown when the program gives it.

    `warnings.catch_warnings` is for all threads, and would have their warnings shown twice.
    """
    given: list[Any] = []
    with _lock:
        before = _given.get(here)
        if not _given:
            _replaced.append(getattr(warnings, _SHOW))
            setattr(warnings, _SHOW, _show)
        _given[here] = given
    try:
        yield
    finally:
        with _lock:
            if before is None:
                del _given[here]
            else:
                _given[here] = before
            if not _given:
                setattr(warnings, _SHOW, _replaced.pop())
        if given:
            _forget(given)


def _show(message: Any) -> None:
    """Show a warning of another thread."""
    given = _given.get(threading.get_ident())
    if given is None:
        _replaced[0](message)
    else:
        given.append(message)


def _forget(given: list[Any]) -> None:
    """Let warnings be shown as for the first time.

    Python notes in the module that gives one that it has been shown.
    """
    for module in list(sys.modules.values()):
        known = getattr(module, "__dict__", {})
        noted = known.get("__warningregistry__") or {}
        for each in given if noted else ():
            if each.filename == known.get("__file__"):
                for line in (each.lineno, 0):
                    noted.pop((str(each.message), each.category, line), None)
