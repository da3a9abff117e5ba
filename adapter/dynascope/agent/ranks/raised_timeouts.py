"""Raise the time-outs of process groups under a debugger: other ranks wait for a rank that is stopped."""

from __future__ import annotations

import copy
import inspect
import os
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from dynascope.agent.events.distributed_names import DISTRIBUTED, NEW_PROCESS_GROUP, RENDEZVOUS, SPLIT_GROUP
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.process_groups import LONGEST_STOP, default_timeout, set_raised_timeouts

_SAID = (
    "Process groups of this job wait up to {hours:g} hours for a rank that is stopped, and do not fail after "
    '{seconds:g} s. "raiseTimeouts": false in the launch configuration leaves their time-outs as they are.'
)


def all_ranks_are_here() -> bool:
    """Whether torchrun has started all ranks on this machine; True for other launchers."""
    here = os.environ.get("LOCAL_WORLD_SIZE")
    return here is None or here == os.environ.get("WORLD_SIZE")


class RaisedTimeouts:
    """The process groups whose time-outs are longer than the program asked for.

    A time-out is raised before a group waits for the first time. Raised later, it changes nothing for a rank that waits
    (measured with gloo, torch 2.13).
    """

    def __init__(self, say: Callable[[str], object], joined: Callable[[int], object]) -> None:
        """Tell the user once, with `say`, in the first rank.

        `joined` is called with the rank of this process, once it is known.
        """
        self._say = say
        self._joined = joined
        self._events = Events()
        self._lock = threading.Lock()
        self._asked: dict[str, timedelta] = {}
        """The time-outs that the program has passed to torch, by the name of the group."""
        self._store: timedelta | None = None
        """The time-out of the store on which the ranks met."""
        self._is_over = False
        self._is_said = False

    def install(self) -> None:
        """Raise the time-outs of groups that the program makes from now on."""
        self._events.call_instead(RENDEZVOUS, self._meet)
        self._events.call_instead(NEW_PROCESS_GROUP, self._make)
        self._events.call_instead(SPLIT_GROUP, self._split)

    def remove(self) -> None:
        """Leave the groups alone that the program makes from now on."""
        self._events.remove()

    def restore(self) -> None:
        """Restore the time-outs of all groups, also of a group that another thread is making."""
        with self._lock:
            self._is_over = True
            set_raised_timeouts(self._asked, self._store)

    def _meet(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for the other ranks, one of which may be stopped before it joins them."""
        asked = kwargs.get("timeout")
        if isinstance(asked, timedelta) and asked < LONGEST_STOP:
            given = zip([*args[1:3], -1, -1], ("RANK", "WORLD_SIZE"), strict=False)
            self._tell(asked, *(number if number >= 0 else int(os.environ.get(name, -1)) for number, name in given))
            self._store = asked
            kwargs["timeout"] = LONGEST_STOP
        return original(*args, **kwargs)

    def _make(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Make the group of `init_process_group` or `new_group`, for whose ranks gloo waits at once."""
        given = inspect.signature(original).bind(*args, **kwargs)
        asked, name = given.arguments.get("timeout"), given.arguments["group_name"]
        is_of_all = not given.arguments["global_ranks_in_group"]
        if is_of_all and given.arguments["group_size"] > 1:
            self._joined(given.arguments["group_rank"])
        if not isinstance(asked, timedelta) or asked >= LONGEST_STOP:
            self._asked.pop(name, None)
            return original(*args, **kwargs)
        given.arguments["timeout"] = LONGEST_STOP
        options = given.arguments.get("backend_options")
        if isinstance(getattr(options, "_timeout", None), timedelta):
            given.arguments["backend_options"] = _with_longer_timeout(options)
        if is_of_all:
            if self._store is not None:  # torch has set it since the ranks met
                given.arguments["store"].set_timeout(LONGEST_STOP)
            self._tell(asked, given.arguments["group_rank"], given.arguments["group_size"])
        return self._made(name, asked, original(*given.args, **given.kwargs))

    def _split(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(original).bind(*args, **kwargs)
        asked = given.arguments.get("timeout") or default_timeout(given.arguments.get("parent_pg"))
        if not isinstance(asked, timedelta) or asked >= LONGEST_STOP:
            return original(*args, **kwargs)
        given.arguments["timeout"] = LONGEST_STOP
        group = original(*given.args, **given.kwargs)
        name = sys.modules[DISTRIBUTED]._world.pg_names.get(group)  # type: ignore[attr-defined]
        return group if name is None else self._made(name, asked, group)

    def _made(self, name: str, asked: timedelta, group: Any) -> Any:
        with self._lock:
            self._asked[name] = asked
            if self._is_over:  # the debugger disconnected while the group was made
                set_raised_timeouts({name: asked}, self._store)
        return group

    def _tell(self, asked: timedelta, rank: int | None, ranks: int) -> None:
        if rank == 0 and ranks > 1 and not self._is_said:
            self._is_said = True
            self._say(_SAID.format(hours=LONGEST_STOP.total_seconds() / 3600, seconds=asked.total_seconds()))


def _with_longer_timeout(options: Any) -> Any:
    """Return a copy of the program's `pg_options`, of which torch would change the time-out."""
    longer = copy.deepcopy(options)
    longer._timeout = LONGEST_STOP
    return longer
