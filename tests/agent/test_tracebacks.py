"""Errors of the program reach it as without the debugger: the same type, text and traceback, without frames of ours."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.agent.recording import recording
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


def mismatched(x: Any) -> Any:
    return x @ torch.ones(7, 2)


def looking(x: Any) -> Any:
    torch._dynamo.comptime.comptime(lambda ctx: ctx.get_local("nothing"))
    return x


def marked(x: Any) -> Any:
    torch._dynamo.mark_dynamic(x, 0)
    return torch.compile(lambda x: x + torch.ones(3), backend="eager")(x)


def too_many(x: Any) -> Any:
    compiled = torch.compile(lambda x, n: x + n, backend="eager", dynamic=False, fullgraph=True)
    with torch._dynamo.config.patch(recompile_limit=1):
        return [compiled(x, n) for n in range(3)]


class Branching(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x if x.sum() > 0 else x + 1


def exported(x: Any) -> Any:
    return torch.export.export(Branching(), (x,), strict=True)


def compiled(function: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    return lambda x: torch.compile(function, **options)(x)


@pytest.mark.parametrize("observer", [lambda: ScriptedSession().attached(), recording])
@pytest.mark.parametrize(
    "call",
    [
        compiled(raising, backend="eager"),
        compiled(breaking, backend="eager", fullgraph=True),
        compiled(lambda x: x + 1, backend=refuses),
        compiled(mismatched, backend="eager"),
        compiled(looking, backend="eager"),
        marked,
        too_many,
        exported,
    ],
)
def test_an_error_has_the_traceback_of_a_plain_run(
    call: Callable[[Any], Any], observer: Callable[[], contextlib.AbstractContextManager[Any]]
) -> None:
    plain = error_of(call, contextlib.nullcontext())
    assert error_of(call, observer()) == plain


@pytest.mark.parametrize("observer", [lambda: ScriptedSession().attached(), recording])
def test_an_error_that_torch_logs_has_no_frames_of_dynascope(
    observer: Callable[[], contextlib.AbstractContextManager[Any]], caplog: pytest.LogCaptureFixture
) -> None:
    torch._dynamo.reset()
    logger = logging.getLogger("torch._dynamo")
    logger.addHandler(caplog.handler)  # it does not propagate
    try:
        with torch._dynamo.config.patch(suppress_errors=True), observer():
            torch.compile(lambda x: x + 1, backend=refuses)(torch.ones(3))
    finally:
        logger.removeHandler(caplog.handler)
    assert "no kernel" in caplog.text and "adapter/dynascope" not in caplog.text


def error_of(
    call: Callable[[Any], Any], observer: contextlib.AbstractContextManager[Any]
) -> list[tuple[str, list[tuple[str, int | None]]]]:
    """Return the error and its causes: the type and the frames of each."""
    torch._dynamo.reset()
    with observer:
        try:
            call(torch.ones(3))
        except Exception as error:
            found = []
            each: BaseException | None = error
            while each is not None:
                frames = traceback.extract_tb(each.__traceback__)
                found.append((type(each).__name__, [(frame.filename, frame.lineno) for frame in frames]))
                each = each.__cause__ or each.__context__
            return found
    raise AssertionError("nothing was raised")
