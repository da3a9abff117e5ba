"""Compiled autograd as a public API: `enable(compiler_fn)`, `disable()`, `reset()`, as PyTorch had them until 2.6.

    from dynascope import compiled_autograd

    with compiled_autograd.enable(torch.compile(backend="inductor")) as runs:
        loss.backward()
    print(runs[-1])

One behaviour on torch 2.11 to 2.15. It is on or off for the process, as the autograd engine has it; contexts may
nest, may end in any order and on any thread, and each puts back what was there before, also when the code in it
raises. Every backward is reported (`BackwardRun`), with and without a debugger, CUDA inputs included. This module
imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynascope.agent.backward.runtime.report import BackwardRun

__all__ = ["disable", "enable", "record", "reset"]


def enable(
    compiler_fn: Callable[[Any], Callable[..., Any]], dynamic: bool = True
) -> AbstractContextManager[list[BackwardRun]]:
    """Capture every backward in the context, and run what `compiler_fn` makes of the captured `torch.fx.GraphModule`.

    `compiler_fn` is `torch.compile`, a partial of it, or any function from a graph module to a callable; it is called
    once per captured graph. Graphs are cached for the process: a backward whose graph is cached does not ask
    `compiler_fn` again, not even another one; `reset()` forgets them. `dynamic`: sizes are symbols from the first
    capture on; False makes a size dynamic when it first changes.

    Yields a list that grows by one `BackwardRun` with each backward, whichever thread runs it, also with one that
    fails. A context that is entered while `torch.compiler.set_stance("force_eager")` holds captures nothing. Raises
    TypeError when `compiler_fn` cannot be called; the backward does when what it returns cannot.
    """
    from dynascope.agent.backward.runtime import runtime

    return runtime.enable(compiler_fn, dynamic)


def disable() -> AbstractContextManager[None]:
    """Run the backwards in the context in eager mode, whatever was enabled around it."""
    from dynascope.agent.backward.runtime import runtime

    return runtime.disable()


def reset() -> None:
    """Off, no graph cached, ids counted from `!0`: the state of a new process, whatever contexts are open.

    Raises RuntimeError inside a captured backward, and while one is captured.
    """
    from dynascope.agent.backward.runtime import runtime

    runtime.reset()


def record() -> AbstractContextManager[list[BackwardRun]]:
    """Report backwards without turning anything on: those captured by `torch._dynamo.config.compiled_autograd`, say."""
    from dynascope.agent.backward.runtime import runtime

    return runtime.record()
