"""The points of a captured backward at which it can stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class StopPoint:
    """A point of a capture: before a `node`, at a `hook` put into the graph, or after a `pass`.

    At `run` the graph is captured and compiled, and about to run with real tensors. `node_call` is None after the last
    node.
    """

    kind: Literal["node", "hook", "pass", "run"]
    node_call: int | None = None
    hook: Any = None
    """The `LiftedHook` of a hook."""
    pass_name: str | None = None

    @property
    def is_detail(self) -> bool:
        """Whether `next` skips it, because a hook is a detail of its node."""
        return self.kind == "hook"
