"""Report sizes and numbers that Dynamo specialises to their current value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.wrapping import Events

Specialized = Callable[[str, str, str, list[str]], None]
"""Called with the symbol, its value, Dynamo's reason, and the sources of the symbol."""


class SpecializationEvents(Events):
    """Call `specialized` before a symbol is replaced by a number for the first time."""

    def __init__(self, specialized: Specialized, failures: HookFailures) -> None:
        super().__init__(failures)

        def replaced(environment: Any, a: Any, tgt: Any, msg: object = "") -> None:
            known = vars(environment)
            if tgt.is_number and tgt != known["replacements"].get(a):
                sources = (known.get("var_to_sources") or {}).get(a, ())
                origins = [text for text in map(source_text, sources) if text]
                specialized(str(a), str(tgt), str(msg), origins)

        self.call_before(torch_names.SET_REPLACEMENT, replaced)
