"""Read from torch's verbose log why no graph in the cache of captured backward graphs could be used.

torch computes reasons and the node of every input only while a logger is set (`set_verbose_logger`, 2.4). Dynascope's
replaces the user's and forwards what the user's would have got. Two traps: torch keeps no reference to the logger; and
with one set it fails an internal assertion if a capture failed before and left a cache entry without a graph. So the
logger is removed as soon as torch has given the reason for a capture, and set again when the capture has made a graph;
after a capture that failed anywhere, it stays removed until the cache is cleared.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from dynascope.agent.events import torch_names
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.autograd import nodes as autograd_nodes


class _Logger:
    """Replace the `logging.Logger` of `compiled_autograd_verbose`: torch calls only `debug`."""

    def __init__(self) -> None:
        self.user: Any = None
        self._reason: str | None = None
        self._outputs: list[Any] = []
        """Weak references to the tensors whose backward the reason is for."""

    def debug(self, message: str) -> None:
        """Keep torch's reason for a capture, given once in a backward, before it makes the compiler."""
        capture_begins()  # first: a failure or interruption from here on must find no logger of Dynascope
        self._reason, self._outputs = str(message), [weakref.ref(each) for each in _outputs()]
        if self.user is not None:
            self.user.debug(message)

    def take(self) -> str | None:
        """Return the reason for the current backward; drop one for another, which has since failed."""
        reason, self._reason = self._reason, None
        outputs, self._outputs = self._outputs, []
        return reason if [id(each()) for each in outputs] == [id(each) for each in _outputs()] else None


def _outputs() -> list[Any]:
    call = autograd_nodes.backward_call()
    return [each for each in call.outputs if hasattr(each, "grad_fn")] if call is not None else []


_logger = _Logger()  # for good: torch borrows it
_events = Events()
_set_logger: Callable[[Any], Any] | None = None
"""torch's own function, between `listen` and `ignore`."""
_captures_open = 0
"""Captures begun and not successfully ended since the cache was last known to contain no failed one."""
_clearings = 0


def listen() -> None:
    """Receive reasons (`set_verbose_logger`, `clear_cache` of `_dynamo.compiled_autograd`, 2.4)."""
    global _events, _set_logger, _captures_open
    _events = Events()
    set_logger = _events.original(torch_names.SET_VERBOSE_LOGGER)
    _events.call_instead(torch_names.SET_VERBOSE_LOGGER, _user_sets_logger)
    _events.call_instead(torch_names.CLEAR_CACHE, _user_clears_cache)
    if _events.is_removed:
        return
    _set_logger = set_logger
    dynamo = sys.modules["torch._dynamo.compiled_autograd"]
    _logger.user = dynamo.verbose_log if dynamo.snapshot_verbose_logging_enabled() else None
    # captures that failed before are unknown; an empty cache contains none
    _captures_open = 0 if torch._C._dynamo.compiled_autograd.is_cache_empty() else 1
    _apply()


def _user_sets_logger(set_logger: Callable[[Any], Any], logger: Any) -> Any:
    _logger.user = logger
    return set_logger(logger) if _set_logger is None else _apply()


def _user_clears_cache(clear: Callable[[], Any]) -> Any:
    global _captures_open, _clearings
    result = clear()
    _captures_open = 0
    _clearings += 1
    _apply()
    return result


def ignore() -> None:
    """Restore the user's own logger, and torch's own functions."""
    global _set_logger
    set_logger, _set_logger = _set_logger, None
    _events.remove()
    if set_logger is not None:
        set_logger(_logger.user)


def reasons() -> list[str]:
    """Return torch's reasons for the capture that begins; empty where they were not requested."""
    reason = _logger.take()
    if reason is None:
        capture_begins()
        return []
    return [reason]


def clearings() -> int:
    """Return the number of known clearings: captures from before are no longer in the cache."""
    return _clearings


def explains() -> bool:
    """Whether torch is set to give reasons now."""
    return _set_logger is not None and _captures_open == 0


def logs_verbosely() -> bool:
    """Whether the user's own `compiled_autograd_verbose` log is on; it then gets all its texts."""
    return _logger.user is not None


def capture_begins() -> None:
    """Count a capture that is about to begin; until `capture_ends` it counts as failed."""
    global _captures_open
    _captures_open += 1
    _apply()


def capture_ends() -> None:
    """Count the current capture as successful: it has made a graph."""
    global _captures_open
    _captures_open -= 1
    _apply()


def _apply() -> Any:
    return _set_logger(_logger if explains() else _logger.user) if _set_logger is not None else None
