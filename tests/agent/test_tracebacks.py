"""Errors of the program reach it as without the debugger: the same type, text and traceback, without frames of ours."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.agent.scripted_session import ScriptedSession

pytestmark = pytest.mark.second_leg


def checked(x: Any) -> Any:
    if x.shape[0] == 3:
        raise ValueError("bad shape")
    return x


def raising(x: Any) -> Any:
    return checked(x) * 2


def breaking(x: Any) -> Any:
    torch._dynamo.graph_break()
    return x


def refuses(_graph: Any, _inputs: Any) -> Any:
    raise RuntimeError("no kernel")


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (raising, {"backend": "eager"}),
        (breaking, {"backend": "eager", "fullgraph": True}),
        (lambda x: x + 1, {"backend": refuses}),
    ],
)
def test_an_error_has_the_traceback_of_a_plain_run(function: Callable[..., Any], options: dict[str, Any]) -> None:
    plain = error_of(function, options, contextlib.nullcontext())
    attached = error_of(function, options, ScriptedSession().attached())
    assert attached == plain


def error_of(
    function: Callable[..., Any], options: dict[str, Any], observer: contextlib.AbstractContextManager[Any]
) -> list[tuple[str, list[tuple[str, int | None]]]]:
    """Return the error and its causes: the type and the frames of each."""
    torch._dynamo.reset()
    with observer:
        try:
            torch.compile(function, **options)(torch.ones(3))
        except Exception as error:
            found = []
            each: BaseException | None = error
            while each is not None:
                frames = traceback.extract_tb(each.__traceback__)
                found.append((type(each).__name__, [(frame.filename, frame.lineno) for frame in frames]))
                each = each.__cause__
            return found
    raise AssertionError("nothing was raised")
