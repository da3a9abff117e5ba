"""Has the forward note where it makes each autograd node, while a breakpoint asks for it.

That is anomaly mode without its check for NaNs: a stack per node, kept by the node itself. It changes no value and no
graph, and what is captured says nothing of it; it costs the forward time, so it is on only while some breakpoint has
mode `backward`.
"""

from __future__ import annotations

import torch


class ForwardLines:
    """One per agent. The program's own anomaly mode is left as it is."""

    def __init__(self) -> None:
        self._ours = False

    def want(self, wanted: bool) -> None:
        """From the next node that the program makes on, on every thread."""
        if wanted and not self._ours and not torch.is_anomaly_enabled():
            torch.set_anomaly_enabled(True, False)
            self._ours = True
        elif not wanted and self._ours:
            self._ours = False
            if torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled():
                torch.set_anomaly_enabled(False, True)
