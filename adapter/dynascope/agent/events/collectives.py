"""Hear of the collectives that Python code calls: plain Python's, FSDP2's and those of hooks, but not of graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.torch_names import (
    COLLECTIVES,
    EXCHANGES_OF_SOME,
    FSDP_COLLECTIVES,
    UPDATE_DEFAULT_GROUP,
)
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.called_collectives import (
    operation_of,
    parameters_of,
    taken_by,
    tensors_of,
)
from dynascope.agent.internals.process_groups import collectives_begun


class CalledCollective(NamedTuple):
    """A collective that begins."""

    group: str
    begun: tuple[str, int] | None
    """The group's backend, and how many collectives this rank has begun there before; None where that is not known."""
    operation: str
    """`all_reduce(sum)`."""
    takes: str
    """`f32[272]`, or for FSDP2 `layers.1.weight, layers.1.bias (f32[272])`."""


class _FsdpOfThread(threading.local):
    parameters = ""
    """The parameters for which FSDP2 calls a collective now."""


_fsdp = _FsdpOfThread()


class CollectiveEvents(Events):
    """Call `begins` before each collective, and `some` with the group where only some of its ranks communicate."""

    def __init__(
        self,
        begins: Callable[[CalledCollective], object],
        some: Callable[[str], object],
        failures: HookFailures,
    ) -> None:
        super().__init__(failures)
        for name in COLLECTIVES:
            self.call_before(name, partial(self._begins, begins, name.name.rpartition(".")[2]))
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
        takes = taken_by(method, tensors)
        if _fsdp.parameters:
            takes = f"{_fsdp.parameters} ({takes})"
        begins(CalledCollective(group.group_name, begun, operation_of(method, arguments), takes))


class DestroyedGroupEvents(Events):
    """Call `destroyed` before the program destroys all its process groups."""

    def __init__(self, destroyed: Callable[[], object], failures: HookFailures) -> None:
        super().__init__(failures)
        self.call_before(UPDATE_DEFAULT_GROUP, lambda pg: destroyed() if pg is None else None)


class FsdpEvents(Events):
    """Note for which parameters FSDP2 calls the collectives that follow on this thread."""

    def __init__(self, failures: HookFailures) -> None:
        super().__init__(failures)
        for name in FSDP_COLLECTIVES:
            self.call_around(name, self._begin, self._end)

    def _begin(self, fsdp_params: Any, *args: Any, **kwargs: Any) -> str:
        before, _fsdp.parameters = _fsdp.parameters, parameters_of(fsdp_params)
        return before

    def _end(self, before: str, result: object, error: BaseException | None) -> None:
        _fsdp.parameters = before
