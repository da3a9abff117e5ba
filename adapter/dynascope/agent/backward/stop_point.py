"""The points of a backward at which it can stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class StopPoint:
    """`node`: the engine is about to call it. `hook`: the call of one was put into the graph. `pass`: one has just run.

    `run`: the graph is captured and compiled, and about to run with real tensors. `node_call` is None after the last
    node.
    """

    kind: Literal["node", "hook", "pass", "run"]
    node_call: int | None = None
    hook: Any = None
    """The `LiftedHook` of a hook."""
    pass_name: str | None = None

    @property
    def is_detail(self) -> bool:
        """Whether `next` goes past it: hooks are details of their node."""
        return self.kind == "hook"
