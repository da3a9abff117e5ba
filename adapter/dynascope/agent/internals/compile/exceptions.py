"""Read the errors of Dynamo: their messages, what Dynamo does about them, and where in the program they are from."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from dynascope.agent.internals.frames.translators import locals_of
from dynascope.facts.model import BreakEffect
from dynascope.facts.user_stack import UserFrame

_CHECKPOINT = "torch.utils.checkpoint.checkpoint"


def message_of(error: BaseException) -> str:
    """Return Dynamo's message (`Unsupported.msg`, 2.0), with those of nested breaks."""
    return str(getattr(error, "msg", error))


def skips_frame(error: BaseException) -> bool:
    """Whether Dynamo skips the frame: nothing to compile, no break (`exc.SkipFrame`, 2.0)."""
    kind: Any = sys.modules["torch._dynamo.exc"].SkipFrame
    return type(error) is kind


def is_soft(error: BaseException) -> bool:
    """Whether Dynamo may run the frame uncompiled for it, as `ConvertFrame.__call__` (2.0) does.

    True for `exc.Unsupported`, `exc.SkipFrame` and `exc.UserError` (2.0).
    """
    exceptions: Any = sys.modules["torch._dynamo.exc"]
    return isinstance(error, (exceptions.Unsupported, exceptions.SkipFrame, exceptions.UserError))


def was_taken(error: BaseException) -> bool:
    """Whether Dynamo has logged this error's graph break (`Unsupported.logged`, 2.11)."""
    return getattr(error, "logged", False) is True


def failure_of(error: BaseException) -> tuple[str, BaseException | None, str | None]:
    """Return the backend's name, error and traceback text (`BackendCompilerFailed`, 2.0)."""
    inner = getattr(error, "inner_exception", None)
    if not isinstance(inner, BaseException):
        return str(getattr(error, "backend_name", "?")), None, None
    trace = "".join(traceback.format_tb(inner.__traceback__))
    return str(getattr(error, "backend_name", "?")), inner, trace or None


def failure_of_backend(error: BaseException) -> tuple[str, str, str] | None:
    """Return (backend, exception, message) of an `exc.BackendCompilerFailed` (2.0); else None."""
    kind: Any = sys.modules["torch._dynamo.exc"].BackendCompilerFailed
    if not isinstance(error, kind):
        return None
    inner = getattr(error, "inner_exception", None)
    return str(getattr(error, "backend_name", "?")), type(inner).__name__, str(inner)


def raises(error: BaseException, box: Any) -> bool:
    """Whether `convert_frame.ConvertFrame.__call__` (2.0) raises the error.

    Else it runs the frame uncompiled. `box` is the `ConvertFrameBox` (2.9) of the compile, which has the
    `error_on_graph_break` of where it broke.
    """
    return not is_soft(error) or bool(getattr(box, "error_on_graph_break", False))


def reached_recompile_limit(error: BaseException | None) -> bool:
    """Whether a function's cache is full (`exc.FailOnRecompileLimitHit`, 2.6; `Unsupported`)."""
    return error is not None and (
        type(error).__name__ == "FailOnRecompileLimitHit" or "recompile limit exceeded" in str(error)[:200].lower()
    )


def effect_of(error: BaseException | None, effect: BreakEffect) -> BreakEffect:
    """Return what comes of an error that Dynamo breaks at, from the effect that its log tells.

    It leaves `variables.higher_order_ops.speculate_subgraph*` (2.0) where it is in the body of an operator.
    """
    if effect != "resumed" or error is None:
        return effect
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name.startswith("speculate_subgraph") and locals_of(frame).get("description") == _CHECKPOINT:
            return "region uncompiled"
    return effect


def stack_of(error: Any) -> list[UserFrame]:
    """Return the program's frames and the traced ones (`Unsupported.real_stack`, 2.0)."""
    traced = getattr(error, "real_stack", None)
    return stack_above(traced_stack() if traced is None else _frames(traced))


def stack_above(frames: Sequence[UserFrame]) -> list[UserFrame]:
    """Return the program's frames (`exc.get_stack_above_dynamo`, 2.0), then `frames`."""
    from torch._dynamo import exc

    return [*_frames(exc.get_stack_above_dynamo()), *frames]


def traced_stack() -> list[UserFrame]:
    """Return the frames being traced, outermost first (`TracingContext.extract_stack`, 2.0)."""
    from torch import _guards

    return _frames(_guards.TracingContext.extract_stack())


def _frames(stack: Iterable[Any]) -> list[UserFrame]:
    return [UserFrame(frame.filename, frame.lineno or 0, frame.name) for frame in stack]
