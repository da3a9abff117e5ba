"""What an expression leaves that fails: no variables of its frames, and torch's dispatch keys as they were."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from dynascope.agent.isolation.isolation import isolated, static_fake_mode, undisturbed
from dynascope.agent.suspension.debugpy.kept import freeing, logged_in
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.second_leg


class Unprintable(torch.Tensor):
    @staticmethod
    def __new__(cls) -> Unprintable:
        return torch.Tensor._make_wrapper_subclass(cls, (2,))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("no values")


UNPRINTABLE = Unprintable()
"""`repr` fails in `torch._tensor_str._str`, which has a variable that sets the dispatch keys when it is freed."""


def keys() -> tuple[int, int]:
    return torch._C._dispatch_tls_local_include_set().raw_repr(), torch._C._dispatch_tls_local_exclude_set().raw_repr()


class Failed:
    """pydevd's `ExceptionOnEvaluate`."""

    def __init__(self, result: BaseException) -> None:
        self.result, self.tb = result, result.__traceback__


def evaluate_expression(debugger: Any, frame: types.FrameType, expression: str, is_exec: bool) -> Any:
    try:
        return eval(expression, frame.f_globals, frame.f_locals)
    except RuntimeError as error:
        return Failed(error)


EVALUATION = types.SimpleNamespace(evaluate_expression=evaluate_expression, ExceptionOnEvaluate=Failed)


def logged() -> object:
    info = types.SimpleNamespace(text=None)
    logged_in("text")(types.SimpleNamespace(expression="f'{UNPRINTABLE}'"), info, sys._getframe())
    assert info.text == "no values"
    return info


def evaluated() -> object:
    result = freeing(EVALUATION)(None, sys._getframe(), "repr(UNPRINTABLE)", False)
    assert type(result) is Failed
    return result


def raised_in(state: Callable[[], contextlib.AbstractContextManager[None]]) -> Callable[[], object]:
    def evaluate() -> object:
        try:
            with state():
                repr(UNPRINTABLE)
        except RuntimeError as error:
            return error
        return None

    return evaluate


@contextlib.contextmanager
def at_compile_time() -> Iterator[None]:
    with isolated(static_fake_mode()):
        yield


WAYS = [logged, evaluated, raised_in(at_compile_time), raised_in(undisturbed)]


@pytest.mark.parametrize("program", [contextlib.nullcontext, FakeTensorMode])
@pytest.mark.parametrize("way", WAYS, ids=["logpoint", "console", "compile time", "plain code"])
def test_a_failed_expression_leaves_the_dispatch_keys(way: Callable[[], object], program: Any) -> None:
    with program():
        before = keys()
        kept = way()
        assert keys() == before
        with torch._C._DisableTorchDispatch():  # as in a kernel of torch's
            before = keys()
            assert kept is not None
            del kept
            assert keys() == before
