"""Hear of the collectives that Python code calls: plain Python's, DTensors', FSDP2's, those of hooks, not of graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from dynascope.agent.events.distributed_names import (
    BROADCAST_COALESCED,
    COLLECTIVES,
    EXCHANGES_OF_SOME,
    FSDP_COLLECTIVES,
    FUNCTIONAL_COLLECTIVES,
    NEW_GROUP,
    PREPARE_FOR_BACKWARD,
    RECEIVE,
    SEND,
    UPDATE_DEFAULT_GROUP,
)
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.called_collectives import (
    fsdp_settings_of,
    operation_of,
    parameters_of,
    splits_of,
    taken_by,
    tensors_of,
)
from dynascope.agent.internals.functional_collectives import functional_call
from dynascope.agent.internals.process_groups import begun_by_group, collectives_begun, default_group, ranks_between
from dynascope.facts.comparison.called import Splits
from dynascope.rank_names import ranks_text


class CalledCollective(NamedTuple):
    """A collective that begins."""

    group: str
    begun: tuple[str, int] | None
    """The group's backend, and how many collectives this rank has begun there before; None where that is not known."""
    operation: str
    """`all_reduce(sum)`."""
    takes: str
    """`f32[272]`, or for FSDP2 `layers.1.weight, layers.1.bias (f32[272])`."""
    splits: Splits = ((), ())
    """How much an all-to-all sends to each rank, and how much it takes from each; empty where all are alike."""


class CalledExchange(NamedTuple):
    """A send to another rank, or a receive from it, that begins."""

    group: str
    source: int
    destination: int
    is_sent: bool
    """Whether this rank is the source."""
    takes: str
    """`f32[64]`."""


class _FsdpOfThread(threading.local):
    parameters = ""
    """The parameters for which FSDP2 calls a collective now."""


_fsdp = _FsdpOfThread()


class CollectiveEvents(Events):
    """Call `begins` before each collective, and `exchanges` before each send and receive.

    `some` is called with the group where only some of its ranks communicate.
    """

    def __init__(
        self,
        begins: Callable[[CalledCollective], object],
        some: Callable[[str], object],
        exchanges: Callable[[CalledExchange], object],
        failures: HookFailures,
    ) -> None:
        super().__init__(failures)
        for name in (SEND, RECEIVE):
            self.call_before(name, partial(self._exchanges, exchanges, name is SEND))
        for name in (*COLLECTIVES, BROADCAST_COALESCED):
            self.call_before(name, partial(self._begins, begins, name.name.rpartition(".")[2]))
        for name, operator in FUNCTIONAL_COLLECTIVES.items():
            self.call_before(name, partial(self._begins_functional, begins, operator))
        for name in EXCHANGES_OF_SOME:
            self.call_before(name, lambda group, *args, **kwargs: some(group.group_name))

    def _begins(
        self, begins: Callable[[CalledCollective], object], method: str, group: Any, *args: Any, **kwargs: Any
    ) -> None:
        if group.size() < 2:
            return
        arguments = [*args, *kwargs.values()]
        tensors = tensors_of(arguments)
        if tensors is None:
            begins(CalledCollective(group.group_name, None, method, ""))
            return
        begun = collectives_begun(group, tensors[0].device if tensors else None)
        splits: Splits = splits_of(arguments) if "to_all" in method else ((), ())
        takes = taken_by(method, tensors, splits)
        if _fsdp.parameters:
            takes = f"{_fsdp.parameters} ({takes})"
        operation = operation_of(method, arguments)
        begins(CalledCollective(group.group_name, begun, operation, takes, splits))

    def _exchanges(
        self,
        exchanges: Callable[[CalledExchange], object],
        is_sent: bool,
        group: Any,
        tensors: Any = (),
        other: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        taken, ranks = tensors_of([tensors]), ranks_between(group, other)
        if taken is not None and ranks is not None:
            source, destination = ranks if is_sent else ranks[::-1]
            takes = taken_by("send" if is_sent else "recv", taken)
            exchanges(CalledExchange(group.group_name, source, destination, is_sent, takes))

    def _begins_functional(
        self, begins: Callable[[CalledCollective], object], operator: str, *args: Any, **kwargs: Any
    ) -> None:
        called = functional_call(operator, args)
        if called is not None and called.group.size() > 1:
            begun = collectives_begun(called.group, called.device)
            begins(CalledCollective(called.group.group_name, begun, called.operation, called.takes, called.splits))


class DestroyedGroupEvents(Events):
    """Call `destroyed` before the program destroys all its process groups."""

    def __init__(self, destroyed: Callable[[], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_before(UPDATE_DEFAULT_GROUP, lambda pg: destroyed() if pg is None else None)


class NewGroupEvents(Events):
    """Call `enters` before the program makes a process group, for which all ranks have to call, and `leaves` then."""

    def __init__(
        self, enters: Callable[[CalledCollective], object], leaves: Callable[[], object], failures: HookFailures
    ) -> None:
        super().__init__(failures)
        self._enters = enters
        self._leaves = leaves
        self.call_around(NEW_GROUP, self._begin, self._end)

    def _begin(
        self,
        ranks: Any = None,
        timeout: object = None,
        backend: object = None,
        options: object = None,
        tag: object = None,
        use_local_synchronization: bool = False,
        *args: object,
        **kwargs: object,
    ) -> bool:
        default = default_group()
        if default is None or use_local_synchronization:
            return False
        of_ranks = f"ranks {ranks_text(ranks)}" if type(ranks) in (list, tuple, range) else "all ranks"
        self._enters(CalledCollective(default, begun_by_group().get(default), "new_group", of_ranks))
        return True

    def _end(self, has_entered: bool, result: object, error: BaseException | None) -> None:
        if has_entered:
            self._leaves()


class ReducerEvents(Events):
    """Call `reduces` before a backward in which DistributedDataParallel reduces gradients (`Reducer`)."""

    def __init__(self, reduces: Callable[[CalledCollective], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self._reduces = reduces
        self.call_before(PREPARE_FOR_BACKWARD, self._prepares)

    def _prepares(self, *args: object) -> None:
        default = default_group()
        if default is not None:
            takes = "DistributedDataParallel's gradients"
            self._reduces(CalledCollective(default, begun_by_group().get(default), "all_reduce", takes))


class FsdpEvents(Events):
    """Note for which parameters FSDP2 calls the collectives that follow on this thread.

    Call `settings` with their settings.
    """

    def __init__(self, settings: Callable[[dict[str, str]], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self._settings = settings
        for name in FSDP_COLLECTIVES:
            self.call_around(name, self._begin, self._end)

    def _begin(self, fsdp_params: Any, *args: Any, **kwargs: Any) -> str:
        before, _fsdp.parameters = _fsdp.parameters, parameters_of(fsdp_params)
        self._settings(fsdp_settings_of(fsdp_params))
        return before

    def _end(self, before: str, result: object, error: BaseException | None) -> None:
        _fsdp.parameters = before
