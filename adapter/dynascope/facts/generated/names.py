"""Name modules, parameters and buffers as `named_modules` and `state_dict` do, from Dynamo's expressions."""

from __future__ import annotations

import functools
import re

_MEMBER = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_OWN = re.compile(r"^[LG]\['self'\]\.(?=[A-Za-z_])")
_ROOT = re.compile(r"\b[LG]\['(\w+)'\]")


@functools.lru_cache(4096)
def users_name(expression: str) -> str:
    """Return the program's name for an expression of Dynamo's.

    `L['self']._modules['layers']._modules['0']._parameters['weight']` is `layers.0.weight`. What is not in the compiled
    function's own `self` keeps its first name: `model.layers.0.weight`.
    """
    return _ROOT.sub(r"\1", _OWN.sub("", _MEMBER.sub(r".\1", expression)))
