"""Keep the latest sends and receives of this process, between it and one other rank each."""

from __future__ import annotations

import sys
from collections import Counter, deque

from dynascope.agent.events.collectives import CalledExchange
from dynascope.facts.comparison.called import Called, CalledInGroup
from dynascope.facts.comparison.peer_exchanges import direction
from dynascope.facts.user_stack import UserFrame
from dynascope.rank_names import named_ranks

_KEPT = 256
"""The most sends and receives that are kept."""
_WAITING = ("send", "recv")
"""The functions of `torch.distributed` (1.0) that return when the other rank has called its partner."""


class PeerExchanges:
    """The sends and receives of this process. Not for concurrent use."""

    def __init__(self) -> None:
        self._calls: deque[Called] = deque(maxlen=_KEPT)
        self._counts: Counter[str] = Counter()

    def add(self, exchange: CalledExchange, lines: tuple[UserFrame, ...]) -> Called:
        """Keep one that begins, and return it."""
        way = direction(exchange.group, exchange.source, exchange.destination)
        told = "send to" if exchange.is_sent else "receive from"
        other = exchange.destination if exchange.is_sent else exchange.source
        place, number = (way, self._counts[way], 0), self._counts.total()
        self._counts[way] += 1
        self._calls.append(Called(place, number, f"{told} {named_ranks(str(other))}", exchange.takes, lines))
        return self._calls[-1]

    def latest(self, thread: int) -> CalledInGroup:
        """Return them; `is_counted` is whether the thread waits in the latest now."""
        frame = sys._current_frames().get(thread)
        waits = (
            frame is not None
            and frame.f_code.co_name in _WAITING
            and frame.f_globals.get("__name__") == "torch.distributed.distributed_c10d"
        )
        return CalledInGroup(waits, list(self._calls))
