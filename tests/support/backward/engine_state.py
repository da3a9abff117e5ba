"""The autograd engine's compiler, as a mistake would leave it."""

from __future__ import annotations

from typing import Any

import torch
from torch._dynamo import compiled_autograd as dynamo

engine = torch._C._dynamo.compiled_autograd


def state() -> tuple[Any, ...]:
    """What a mistake would leave behind; read without changing it."""
    compiler, dynamic = engine.set_autograd_compiler(None, False)
    engine.set_autograd_compiler(compiler, dynamic)
    return compiler, dynamic, dynamo.compiled_autograd_enabled, dynamo.active_disable_ctx, dynamo.depth


OFF = (None, False, False, False, 0)
