"""Make the forward record where it creates each autograd node, while a breakpoint needs it.

This is anomaly mode without its check for NaNs: each node keeps a stack. It changes no value, graph or capture, but
slows the forward down, so it is enabled only while a breakpoint has mode `backward`.
"""

from __future__ import annotations

import torch


class ForwardLines:
    """Set anomaly mode for one agent, but not if the program has set it itself."""

    def __init__(self) -> None:
        self._ours = False

    def want(self, wanted: bool) -> None:
        """Start or stop recording with the next node that the program creates, on every thread."""
        if wanted and not self._ours and not torch.is_anomaly_enabled():
            torch.set_anomaly_enabled(True, False)
            self._ours = True
        elif not wanted and self._ours:
            self._ours = False
            if torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled():
                torch.set_anomaly_enabled(False, True)
