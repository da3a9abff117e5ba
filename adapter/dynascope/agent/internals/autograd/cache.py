"""The cache of captured backward graphs: why none of them would do, heard where torch's verbose log would say it.

torch computes reasons and the node of every input only while a logger is set (`set_verbose_logger`, 2.4). Ours stands
in its place and passes on what the user's own would have got. Two traps: torch keeps no reference to the logger; and
with one set it fails an internal assertion when a capture failed before and left a cache entry without a graph. So ours
is taken away as soon as torch has said why it must capture, and set again when the capture has given a graph; after one
that failed, wherever it did, it stays away until the cache is cleared.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.autograd import nodes as autograd_nodes
from dynascope.agent.internals.wrapping import Wrapping


class _Logger:
    """Stands for the `logging.Logger` of `compiled_autograd_verbose`: torch calls nothing but `debug`."""

    def __init__(self) -> None:
        self.user: Any = None
        self._reason: str | None = None
        self._outputs: list[Any] = []
        """What the backward that the reason is for was called on, by weak reference."""

    def debug(self, message: str) -> None:
        """Torch says why it must capture: once in a backward, before it makes the compiler."""
        capture_begins()  # first: what fails or interrupts the capture from here on must find no logger of ours
        self._reason, self._outputs = str(message), [weakref.ref(each) for each in _outputs()]
        if self.user is not None:
            self.user.debug(message)

    def take(self) -> str | None:
        """The reason for the backward under way; one that was given for another, which failed since, is dropped."""
        reason, self._reason = self._reason, None
        outputs, self._outputs = self._outputs, []
        return reason if [id(each()) for each in outputs] == [id(each) for each in _outputs()] else None


def _outputs() -> list[Any]:
    """The tensors that the backward under way was called on."""
    call = autograd_nodes.backward_call()
    return [each for each in call.outputs if hasattr(each, "grad_fn")] if call is not None else []


_logger = _Logger()  # for good: torch borrows it
_wrapping = Wrapping()
_set_logger: Callable[[Any], Any] | None = None
"""torch's own, while anybody listens."""
_captures_open = 0
"""Captures begun and not ended well since the cache was last known to hold none that failed."""
_clearings = 0


def listen() -> None:
    """Hear reasons from here on (`torch._C._dynamo.compiled_autograd.set_verbose_logger`, `clear_cache`, 2.4)."""
    global _wrapping, _set_logger, _captures_open
    _wrapping = Wrapping()
    set_logger = _wrapping.original(torch_names.SET_VERBOSE_LOGGER)
    clear = _wrapping.original(torch_names.CLEAR_CACHE)
    if _wrapping.is_removed:
        return
    _set_logger = set_logger

    def set_verbose_logger(logger: Any) -> Any:
        _logger.user = logger
        return set_logger(logger) if _set_logger is None else _apply()

    def clear_cache() -> Any:
        global _captures_open, _clearings
        result = clear()
        _captures_open = 0
        _clearings += 1
        _apply()
        return result

    _wrapping.put(torch_names.SET_VERBOSE_LOGGER, set_verbose_logger)
    _wrapping.put(torch_names.CLEAR_CACHE, clear_cache)
    dynamo = sys.modules["torch._dynamo.compiled_autograd"]
    _logger.user = dynamo.verbose_log if dynamo.snapshot_verbose_logging_enabled() else None
    # what failed before anybody listened is not known: an empty cache holds nothing that failed
    _captures_open = 0 if torch._C._dynamo.compiled_autograd.is_cache_empty() else 1
    _apply()


def ignore() -> None:
    """Hand torch the user's own logger again, and its own functions."""
    global _set_logger
    set_logger, _set_logger = _set_logger, None
    _wrapping.remove()
    if set_logger is not None:
        set_logger(_logger.user)


def reasons() -> list[str]:
    """What torch said, why it has to capture this backward; empty when it was not asked. As its capture begins."""
    heard = _logger.take()
    if heard is None:
        capture_begins()
        return []
    return [heard]


def clearings() -> int:
    """How often the cache was cleared while anybody listened: what was captured before is no longer in it."""
    return _clearings


def explains() -> bool:
    """Whether torch is asked for reasons now."""
    return _set_logger is not None and _captures_open == 0


def logs_verbosely() -> bool:
    """Whether the user's own `compiled_autograd_verbose` log is on: it then gets all that it would get without us."""
    return _logger.user is not None


def capture_begins() -> None:
    """A capture is about to begin: until `capture_ends` it counts as failed."""
    global _captures_open
    _captures_open += 1
    _apply()


def capture_ends() -> None:
    """The capture under way has given a graph."""
    global _captures_open
    _captures_open -= 1
    _apply()


def _apply() -> Any:
    return _set_logger(_logger if explains() else _logger.user) if _set_logger is not None else None
