"""Report guards as they are installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events
from dynascope.agent.program.tracebacks import hidden_frame

Installed = Callable[[str, str], None]
"""Called with the expression that the guard is on ("" for global state), and its type (`TENSOR_MATCH` …)."""

_OF_MODULE = re.compile(
    r"(?:\.__dict__\['(?:_modules|_parameters|_buffers)'\]|\.(?:_modules|_parameters|_buffers|__dict__))\['(\w+)'\]"
)
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")


class GuardEvents(Events):
    """Call `installed` when a new guard has been added."""

    def __init__(self, installed: Installed, failures: HookFailures) -> None:
        super().__init__(failures)
        original, body = self.original(torch_names.ADD_GUARD), self.failures

        def add(guards: Any, guard: Any, *, collect_debug_stack: bool = True, skip: int = 0) -> None:
            before = len(guards.inner)
            with hidden_frame:
                original(guards, guard, collect_debug_stack=collect_debug_stack, skip=skip + 1)
            if len(guards.inner) != before and not self.is_removed:
                with body:
                    installed(str(guard.name), str(guard.create_fn_name()))

        self.put(torch_names.ADD_GUARD, add)


def as_written(source: str) -> str:
    """Return a source as a user would write it: `L['self'].fc.weight`, `L['x'].shape[0]`.

    Dynamo writes `L['self']._modules['fc']._parameters['weight']` and `L['x'].size()[0]` (`torch._guards.Source`, 2.0).
    """
    return _SIZE.sub(r".shape[\1]", _OF_MODULE.sub(_member, source))


def _member(match: re.Match[str]) -> str:
    """Write a member by its name, or by its number in a ModuleList or Sequential."""
    return f"[{match[1]}]" if match[1].isdecimal() else f".{match[1]}"
