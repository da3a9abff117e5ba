"""Report code that a program loads compiled, which neither Dynamo traces nor Python runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.torch_names import TorchName
from dynascope.agent.events.wrapping import Events, is_found

Lines = tuple[str, int, int]
"""A file, and the first and last line of a function in it."""


class LoadEvents(Events):
    """Report what `name` has loaded: the functions compiled into it, if it says, and what it is for users."""

    def __init__(
        self,
        name: TorchName,
        what: str,
        loaded: Callable[[str, list[Lines]], object],
        failures: HookFailures,
    ) -> None:
        super().__init__(failures)
        if is_found(name):
            self.call_after(name, lambda result, *args, **kwargs: loaded(what, list(_functions(result, *args))))


def load_events(loaded: Callable[[str, list[Lines]], object], failures: HookFailures) -> list[LoadEvents]:
    """Report each load to `loaded`, by those of the names that this torch has."""
    return [LoadEvents(name, what, loaded, failures) for name, what in torch_names.LOADS.items()]


def _functions(result: Any, *args: Any) -> Iterable[Lines]:
    """Yield the functions that were compiled into what is loaded, if it says.

    Reads `CompilePackage._source_info` (2.9) and `AOTCompiledFunction._artifacts.source_info` (2.9).
    """
    artifacts = getattr(result, "_artifacts", None)
    info = getattr(artifacts, "source_info", None) or next(
        (found for each in args if (found := getattr(each, "_source_info", None)) is not None), None
    )
    for source in getattr(info, "inlined_sources", ()):
        file = getattr(sys.modules.get(source.module), "__file__", None)
        if file is not None:
            yield file, source.firstlineno, source.lastlineno - 1
