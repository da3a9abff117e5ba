"""The cache of captured backward graphs: why none of them would do, heard where torch's verbose log would say it.

torch computes reasons and the node of every input only while a logger is set (`set_verbose_logger`, 2.4). Ours stands
in its place and passes on what the user's own would have got. Two traps: torch keeps no reference to the logger; and
with one set it fails an internal assertion when a capture failed before and left a cache entry without a graph, so
that ours is taken away from a failure on until the cache is cleared.
"""

from __future__ import annotations

import sys
from typing import Any


class _Logger:
    """Stands for the `logging.Logger` of `compiled_autograd_verbose`: torch calls nothing but `debug`."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.user: Any = None

    def debug(self, message: str) -> None:
        if len(self.reasons) < 8:
            self.reasons.append(str(message))
        if self.user is not None:
            self.user.debug(message)


_logger = _Logger()  # for good: torch borrows it
_originals: dict[str, Any] = {}
_captures_open = 0
"""Captures begun and not ended well since the cache was last known to hold none that failed."""
_clearings = 0


def listen() -> None:
    """Hear reasons from here on (`torch._C._dynamo.compiled_autograd.set_verbose_logger`, `clear_cache`, 2.4)."""
    global _captures_open
    engine = _engine()
    set_logger, clear = engine.set_verbose_logger, engine.clear_cache
    _originals.update(set_verbose_logger=set_logger, clear_cache=clear)

    def set_verbose_logger(logger: Any) -> Any:
        _logger.user = logger
        return _apply()

    def clear_cache() -> Any:
        global _captures_open, _clearings
        result = clear()
        _captures_open = 0
        _clearings += 1
        _apply()
        return result

    engine.set_verbose_logger, engine.clear_cache = set_verbose_logger, clear_cache
    dynamo = sys.modules["torch._dynamo.compiled_autograd"]
    _logger.user = dynamo.verbose_log if dynamo.snapshot_verbose_logging_enabled() else None
    # what failed before anybody listened is not known: an empty cache holds nothing that failed
    _captures_open = 0 if engine.is_cache_empty() else 1
    _apply()


def ignore() -> None:
    """Hand torch the user's own logger again, and its own functions."""
    engine = _engine()
    for name, original in _originals.items():
        setattr(engine, name, original)
    _originals.clear()
    engine.set_verbose_logger(_logger.user)


def reasons() -> list[str]:
    """What torch said since the last capture, why it has to capture this backward; empty when it was not asked."""
    heard, _logger.reasons = _logger.reasons, []
    return heard


def clearings() -> int:
    """How often the cache was cleared while anybody listened: what was captured before is no longer in it."""
    return _clearings


def explains() -> bool:
    """Whether torch is asked for reasons now."""
    return bool(_originals) and _captures_open == 0


def logs_verbosely() -> bool:
    """Whether the user's own `compiled_autograd_verbose` log is on: it then gets all that it would get without us."""
    return _logger.user is not None


def capture_begins() -> None:
    """A capture is under way: until `capture_ends` it counts as failed."""
    global _captures_open
    _captures_open += 1
    _apply()


def capture_ends() -> None:
    """The capture under way has given a graph."""
    global _captures_open
    _captures_open -= 1
    _apply()


def _apply() -> Any:
    return _originals["set_verbose_logger"](_logger if explains() else _logger.user)


def _engine() -> Any:
    import torch

    return torch._C._dynamo.compiled_autograd
