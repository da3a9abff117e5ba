"""Raise the time-outs of process groups under a debugger: other ranks wait for a rank that is stopped."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from dynascope.agent.events.torch_names import DISTRIBUTED, NEW_PROCESS_GROUP, RENDEZVOUS, SPLIT_GROUP
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.process_groups import LONGEST_STOP, set_timeouts
from dynascope.agent.program.import_hooks import when_imported

_SAID = (
    "Process groups of this job wait up to {hours:g} hours for a rank that is stopped, and do not fail after "
    '{seconds:g} s. "raiseTimeouts": false in the launch configuration leaves their time-outs as they are.'
)


class RaisedTimeouts:
    """The process groups whose time-outs are longer than the program asked for.

    A time-out is raised before a group waits for the first time. Raised later, it changes nothing for a rank that waits
    (measured with gloo, torch 2.13).
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        """Tell the user once, with `say`, in the first rank."""
        self._say = say
        self._events = Events()
        self._not_yet_imported: Callable[[], None] = lambda: None
        self._raised: dict[str, timedelta] = {}
        """What the program asked for, by the name of the group."""
        self._is_said = False

    def install(self) -> None:
        """Raise the time-outs of groups that the program makes from now on."""
        self._not_yet_imported = when_imported(DISTRIBUTED, self._wrap)

    def remove(self) -> None:
        """Leave the groups alone that the program makes from now on."""
        self._not_yet_imported()
        self._events.remove()

    def restore(self) -> None:
        """Restore the time-outs of the groups that were made."""
        set_timeouts(self._raised)
        self._raised.clear()

    def _wrap(self) -> None:
        self._events.call_instead(RENDEZVOUS, self._meet)
        self._events.call_instead(NEW_PROCESS_GROUP, self._make)
        self._events.call_instead(SPLIT_GROUP, self._split)

    def _meet(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for the other ranks, one of which may be stopped before it joins them."""
        if isinstance(kwargs.get("timeout"), timedelta):
            kwargs["timeout"] = max(kwargs["timeout"], LONGEST_STOP)
        return original(*args, **kwargs)

    def _make(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Make the group of `init_process_group` or `new_group`, for whose ranks gloo waits at once."""
        asked, args, kwargs = _with_longer_timeout(original, args, kwargs)
        given = inspect.signature(original).bind(*args, **kwargs).arguments
        if asked is not None:
            self._raised[given["group_name"]] = asked
            if not given["global_ranks_in_group"]:  # the group of all ranks
                given["store"].set_timeout(LONGEST_STOP)
                self._tell(asked, given["group_rank"], given["group_size"])
        return original(*args, **kwargs)

    def _split(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        asked, args, kwargs = _with_longer_timeout(original, args, kwargs)
        group = original(*args, **kwargs)
        names: Any = sys.modules[DISTRIBUTED]._world.pg_names  # type: ignore[attr-defined]
        if asked is not None and group in names:
            self._raised[names[group]] = asked
        return group

    def _tell(self, asked: timedelta, rank: int, ranks: int) -> None:
        if rank == 0 and ranks > 1 and not self._is_said:
            self._is_said = True
            self._say(_SAID.format(hours=LONGEST_STOP.total_seconds() / 3600, seconds=asked.total_seconds()))


def _with_longer_timeout(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[timedelta | None, tuple[Any, ...], dict[str, Any]]:
    """Return the `timeout` that was asked for, and arguments with a longer one.

    The time-out is None, and the arguments are as before, if it is long enough, missing or no `timedelta`.
    """
    given = inspect.signature(function).bind(*args, **kwargs)
    asked = given.arguments.get("timeout")
    if not isinstance(asked, timedelta) or asked >= LONGEST_STOP:
        return None, args, kwargs
    given.arguments["timeout"] = LONGEST_STOP
    return asked, given.args, given.kwargs
