"""Keep Dynamo from compiling functions at the user's request (breakpoints with mode `run`)."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch

from dynascope.agent.events import torch_names
from dynascope.agent.events.convert_frame import CompileHooks
from dynascope.agent.events.wrapping import Events
from dynascope.agent.program.threads import hidden_frame

_WHY = "A breakpoint with mode `run` is in this function: it is left uncompiled."


class _Abandoned(BaseException):
    """The frame being compiled would inline such a function, and must not break its graph there."""


class Uncompiled(Events):
    """Decide in Dynamo's place whether a frame is compiled and a call inlined, until `remove`."""

    def __init__(
        self,
        hooks: CompileHooks,
        is_left: Callable[[types.CodeType | None], bool],
        traced: Callable[[], list[types.CodeType]],
    ) -> None:
        """Leave code uncompiled for which `is_left` is true; `traced` returns the compile's code."""
        from torch._dynamo import exc, symbolic_convert

        super().__init__()
        self._hooks, self._is_left, self._traced = hooks, is_left, traced
        self._whole: dict[int, types.CodeType] = {}
        self.broken: dict[int, types.CodeType] = {}
        """Code compiled with a graph break where it would have inlined such a function, by identity."""

        def check_inlineable(original: Any, func: Any) -> Any:
            if not self.is_removed and is_left(_code_of(func)):
                root = symbolic_convert.InstructionTranslator.current_tx()
                if root.one_graph or getattr(root, "error_on_graph_break", False) or _in_functorch():
                    raise _Abandoned
                self.broken[id(root.f_code)] = root.f_code
                exc.unimplemented(
                    gb_type="Skip inlining `torch.compiler.disable()`d function", context="", explanation=_WHY, hints=[]
                )
            with hidden_frame:
                return original(func)

        self.call_instead(torch_names.CHECK_INLINEABLE, check_inlineable)
        if not self.is_removed:
            hooks.gate = self

    def remove(self) -> None:
        """Restore the original, and Dynamo's own decisions."""
        self._hooks.gate = None
        super().remove()

    # ---- convert_frame.Gate

    def before(self, code: types.CodeType) -> Any | None:
        if id(code) in self._whole:
            return _run(recursively=True)
        return _run(recursively=False) if self._is_left(code) else None

    def after(self, result: Any) -> Any | None:
        # the breakpoint may have been set during this compile, which has inlined the function already
        if result.guarded_code is not None and any(self._is_left(code) for code in self._traced()):
            return _run(recursively=False)
        return None

    def abandoned(self, code: types.CodeType, error: BaseException) -> Any | None:
        # a higher-order op that has to be captured as a whole (`torch.cond`) raises what broke the graph in it
        if not isinstance(error, _Abandoned) and _WHY not in str(error):
            return None
        self._whole[id(code)] = code
        return _run(recursively=True)


def _in_functorch() -> bool:
    """Whether a transform is being traced (`torch._C._functorch.peek_interpreter_stack`, 2.0).

    The rest after a graph break in `torch.func.grad` cannot be compiled: Dynamo fails on the transform's tensors.
    """
    return torch._C._functorch.peek_interpreter_stack() is not None


def _run(recursively: bool) -> Any:
    """Return a result that runs this frame uncompiled now (`types.ConvertFrameReturn`, 2.6)."""
    from torch._C._dynamo import eval_frame
    from torch._dynamo import types as dynamo_types

    # fullgraph=True requires a compiled frame (`set_fullgraph_compiled_frame_count`, 2.12)
    set_count: Any = getattr(eval_frame, "set_fullgraph_compiled_frame_count", None)
    if set_count is not None:
        count = set_count(-1)
        set_count(count + 1 if count >= 0 else count)
    action = dynamo_types.FrameAction
    below = action.SKIP if recursively else action.DEFAULT
    strategy = dynamo_types.FrameExecStrategy(action.SKIP, below)
    return dynamo_types.ConvertFrameReturn(frame_exec_strategy=strategy, apply_to_code=False)


def forget_compiled(code: types.CodeType) -> None:
    """Drop this code's compiled code (`torch._C._dynamo.eval_frame.reset_code`, 2.0).

    Do not call it while this code is being compiled. The next call compiles it again.
    """
    from torch._C._dynamo import eval_frame

    eval_frame.reset_code(code)


def _code_of(func: Any) -> types.CodeType | None:
    """Return the code that would be inlined (`BaseUserFunctionVariable.get_code`, 2.0), or None."""
    try:
        code = func.get_code()
    except NotImplementedError:
        return None
    return code if isinstance(code, types.CodeType) else None
