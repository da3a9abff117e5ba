"""Report calls of backends, the one part of a compile in which Dynamo runs Python of the program."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.internals import torch_names
from dynascope.agent.internals.hook_failures import HookFailures
from dynascope.agent.internals.wrapping import Events

_WRAPPED = ("_torchdynamo_orig_backend", "compiler_fn", "__wrapped__", "fn")
"""The attributes in which wrappers of Dynamo and `torch.compile` store the backend (2.0)."""
_COMPILERS = ("fw_compiler", "bw_compiler", "inference_compiler")
_MOST = 16


class BackendCalls(Events):
    """Call `begins` before and `ends` after each call of a backend."""

    def __init__(self, begins: Callable[[set[str]], Any], ends: Callable[[Any], None], failures: HookFailures) -> None:
        """Call `begins(files of the backend's functions)`, and `ends` with what `begins` returned."""
        super().__init__(failures)
        original = self.original(torch_names.CALL_USER_COMPILER)

        def call_user_compiler(output: Any, *args: Any, **kwargs: Any) -> Any:
            token = None
            with failures:
                token = begins(set(_files(output.compiler_fn)))
            try:
                return original(output, *args, **kwargs)
            finally:
                with failures:
                    ends(token)

        self.put(torch_names.CALL_USER_COMPILER, call_user_compiler)


def _files(backend: Any) -> Iterator[str]:
    """Yield the files of a backend's functions, by reading attributes without calling anything.

    `functools.partial`, the wrappers of `torch.compile`, `backends.common.AotAutograd` (2.0) with its compilers.
    """
    waiting, seen = [backend], 0
    while waiting and seen < _MOST:
        each, seen = waiting.pop(), seen + 1
        if isinstance(each, functools.partial):
            waiting += [each.func, *(each.keywords.get(name) for name in _COMPILERS)]
            continue
        if isinstance(each, types.MethodType):
            each = each.__func__
        if isinstance(each, types.FunctionType):
            yield each.__code__.co_filename
        else:
            for cls in type(each).__mro__:
                called = cls.__dict__.get("__call__")
                if isinstance(called, types.FunctionType):
                    yield called.__code__.co_filename
                    break
        kept = getattr(each, "__dict__", None)
        if type(kept) is dict:
            waiting += [kept[name] for name in _WRAPPED if name in kept]
            given = kept.get("kwargs")
            if type(given) is dict:
                waiting += [given[name] for name in _COMPILERS if name in given]
