"""Keep what the debugger does unseen: by Dynamo, in torch's logs, and as warnings that it gives."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from dynascope.agent.program.user_code import OUR_FOLDER

Result = TypeVar("Result")


def unseen(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Call `function` with this thread's callback off (`torch._C._dynamo.eval_frame`, 2.0)."""
    dynamo = getattr(sys.modules.get("torch._C"), "_dynamo", None)
    eval_frame: Any = getattr(dynamo, "eval_frame", None)
    if eval_frame is None:
        return function(*args, **kwargs)
    prior = eval_frame.set_eval_frame(None)
    try:
        return function(*args, **kwargs)
    finally:
        eval_frame.set_eval_frame(prior)


def never_trace(paths: Iterable[str]) -> None:
    """Add paths to Dynamo's skip list (`trace_rules.SKIP_DIRS` and `_recompile_re`, 2.1).

    On Python 3.11 pydevd's Python runs under the eval-frame hook, and the autograd engine calls Dynascope's wrappers.
    """
    rules: Any = sys.modules["torch._dynamo.trace_rules"]
    for path in paths:
        entry = os.path.realpath(path) + (os.sep if os.path.isdir(path) else "")
        if entry not in rules.SKIP_DIRS:
            rules.SKIP_DIRS.append(entry)
    rules._recompile_re()


@functools.cache
def hide_from_guards() -> None:
    """Keep the agent's files out of guards' provenance (`uninteresting_files`, 2.0).

    Call at the first compile, not before: its first call imports torch.export, which is circular during import.
    """
    symbolic_shapes: Any = sys.modules["torch.fx.experimental.symbolic_shapes"]
    symbolic_shapes.uninteresting_files().update(
        os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(OUR_FOLDER, "agent")) for name in names
    )


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
