"""The devices of a test that is about a GPU: the same test runs on the CPU of every machine, too."""

from __future__ import annotations

import pytest

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]
EXPANDABLE = dict.fromkeys(("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"), "expandable_segments:True")
"""The environment of a program whose memory is in segments that grow; the first name is that of torch 2.9 and newer."""


def place(device: str) -> str:
    """Return what stands after the shape of a tensor on this device: nothing on the CPU, which is not named."""
    return "" if device == "cpu" else f" {device}:0"
