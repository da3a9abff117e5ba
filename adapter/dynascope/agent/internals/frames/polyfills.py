"""Know the functions that Dynamo traces in place of builtins, which no line of the program calls."""

from __future__ import annotations

import os.path
import types

import torch
from torch._dynamo import polyfills

_POLYFILLS = os.path.dirname(polyfills.__file__)
_MODULE = torch.nn.modules.module.__file__
_ATTRIBUTES = ("__setattr__", "__getattr__", "__delattr__")


def stands_for_builtin(code: types.CodeType) -> bool:
    """Whether this is of `torch._dynamo.polyfills` (2.5), or `module.name = value` calls it."""
    if code.co_filename == _MODULE:
        return code.co_name in _ATTRIBUTES
    return code.co_filename.startswith(_POLYFILLS)
