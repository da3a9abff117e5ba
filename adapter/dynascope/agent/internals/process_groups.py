"""Read the process groups of this rank, how long their collectives wait, and where the store of the job is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

_DISTRIBUTED = "torch.distributed.distributed_c10d"
_COUNTING = ("gloo", "nccl")
"""The backends whose number of collectives is known to count each."""

LONGEST_STOP = timedelta(days=1)
"""How long other ranks wait for a rank that is stopped, where time-outs are raised."""


class JobStore(NamedTuple):
    """The address of the store on which the ranks of a job met, and this process's place among them."""

    host: str
    port: int
    rank: int
    groups: dict[str, tuple[int, ...]]
    """The ranks of each process group of this rank that has others, by its name."""


def job_store() -> JobStore | None:
    """Return where the job's `TCPStore` (1.0) is; None in a process that is no rank.

    None also for a job of one process, and for one whose ranks met on another store. `distributed_c10d._world` (2.0),
    `PrefixStore.underlying_store` (2.0).
    """
    distributed: Any = sys.modules.get(_DISTRIBUTED)
    if distributed is None or not distributed.is_initialized() or distributed.get_world_size() < 2:
        return None
    store: Any = distributed._get_default_store()
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    if not isinstance(store, sys.modules["torch.distributed"].TCPStore):
        return None
    world = distributed._world
    groups = {
        world.pg_names[group]: tuple(sorted(ranks))
        for group, ranks in world.pg_group_ranks.items()
        if len(ranks) > 1 and group in world.pg_names
    }
    return JobStore(store.host, store.port, distributed.get_rank(), groups)


def ranks_between(group: Any, other: object) -> tuple[int, int] | None:
    """Return this process's rank, and that of another by its place in a group.

    None without a place. `torch.distributed.get_global_rank` (2.0).
    """
    distributed: Any = sys.modules[_DISTRIBUTED]
    if type(other) is not int:
        return None
    return distributed.get_rank(), distributed.get_global_rank(group, other)


def collectives_begun(group: Any, device: Any) -> tuple[str, int] | None:
    """Return a group's backend, and how many collectives this rank has begun there.

    Those of graphs and of C++ are counted, too. `device` is None where no tensor tells it. None where there are several
    backends then, and for one that does not count. `ProcessGroup._get_backend` (2.0),
    `Backend._get_sequence_number_for_group` (2.6).
    """
    devices = group._device_types if device is None else [device]
    try:
        backends = {backend.name(): backend for backend in map(group._get_backend, devices)}
    except RuntimeError:  # it has none for the device: the call itself raises that
        return None
    name, backend = next(iter(backends.items()), ("", None))
    if len(backends) > 1 or backend is None or name not in _COUNTING:
        return None
    return name, int(backend._get_sequence_number_for_group())


def group_of(argument: Any) -> Any:
    """Return the process group that an operator takes, also by its name.

    None where there is none. `distributed_c10d._world.pg_names` (1.8).
    """
    distributed: Any = sys.modules[_DISTRIBUTED]
    if type(argument) is not str:
        return argument if isinstance(argument, distributed.ProcessGroup) else None
    return next((group for group, name in list(distributed._world.pg_names.items()) if name == argument), None)


def default_group() -> str | None:
    """Return the name of the group of all ranks; None before it is made, and for one rank."""
    distributed: Any = sys.modules[_DISTRIBUTED]
    if not distributed.is_initialized() or distributed.get_world_size() < 2:
        return None
    return str(distributed._get_default_group().group_name)


def begun_by_group() -> dict[str, tuple[str, int] | None]:
    """Return for each process group with other ranks what `collectives_begun` does, by its name.

    `torch.distributed.distributed_c10d._world.pg_names` (1.8).
    """
    world: Any = sys.modules[_DISTRIBUTED]._world  # type: ignore[attr-defined]
    return {name: collectives_begun(group, None) for group, name in list(world.pg_names.items()) if group.size() > 1}


def collective_timeouts() -> dict[str, float]:
    """Return seconds by backend, of process groups with other ranks; the least of several.

    `torch.distributed.distributed_c10d._world.pg_map` (2.0), `Backend.options` (2.6).
    """
    distributed: Any = sys.modules.get(_DISTRIBUTED)
    found: dict[str, float] = {}
    for group in [] if distributed is None else list(distributed._world.pg_map):
        for device in group._device_types if group.size() > 1 else ():
            with contextlib.suppress(RuntimeError, AttributeError):  # not every backend has options
                backend = group._get_backend(device)
                seconds = backend.options._timeout.total_seconds()
                found[backend.name()] = min(seconds, found.get(backend.name(), seconds))
    return found


def default_timeout(parent: Any) -> timedelta | None:
    """Return the time-out of a group that is split from `parent` without a time-out of its own.

    None for `parent` is the group of all ranks. `distributed_c10d._get_default_timeout` (2.1).
    """
    distributed: Any = sys.modules[_DISTRIBUTED]
    with contextlib.suppress(Exception):  # torch says what is wrong when it splits the group
        backend, _ = distributed._world.pg_map[parent or distributed._get_default_group()]
        return distributed._get_default_timeout(distributed.Backend(backend))  # type: ignore[no-any-return]
    return None


def set_raised_timeouts(asked: Mapping[str, timedelta], of_store: timedelta | None) -> None:
    """Set the time-outs of groups, by their names, for collectives that begin from now on.

    Only those that are `LONGEST_STOP`: the program may have set others. `of_store` is that of the job's store. A group
    whose backend can set none, or that is destroyed meanwhile, keeps its own.
    `ProcessGroup.set_timeout` (2.9), `Store.set_timeout` (1.4).
    """
    distributed: Any = sys.modules.get(_DISTRIBUTED)
    if distributed is None or not asked:
        return
    world = distributed._world
    for group in list(world.pg_map):
        timeout = asked.get(world.pg_names.get(group, ""))
        if timeout is not None and _is_raised(group):
            with contextlib.suppress(RuntimeError):
                group.set_timeout(timeout)
    if of_store is not None:
        with contextlib.suppress(RuntimeError, ValueError, KeyError):
            store = distributed._get_default_store()
            if store.timeout == LONGEST_STOP:
                store.set_timeout(of_store)


def _is_raised(group: Any) -> bool:
    with contextlib.suppress(RuntimeError, AttributeError):  # not every backend has options
        return any(group._get_backend(device).options._timeout == LONGEST_STOP for device in group._device_types)
    return False
