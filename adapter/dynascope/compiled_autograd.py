"""Compiled autograd as a public API: `enable(compiler_fn)`, `disable()`, `reset()`, as PyTorch had them until 2.6.

    from dynascope import compiled_autograd

    with compiled_autograd.enable(torch.compile(backend="inductor")) as runs:
        loss.backward()
    print(runs[-1])

It behaves the same on torch 2.11 to 2.15. It is on or off for the whole process, as in the autograd engine; contexts
may nest, may end in any order and on any thread, and each restores the earlier state, also when its code raises. Every
backward is reported (`BackwardRun`), with and without a debugger, also with CUDA inputs. This module does not import
torch.
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
    """Capture every backward in the context, and run each graph compiled with `compiler_fn`.

    `compiler_fn` is `torch.compile`, a partial of it, or any function from a `torch.fx.GraphModule` to a callable; it
    is called once per captured graph. Graphs are cached for the process: for a backward whose graph is cached no
    `compiler_fn` is called, not even a different one; `reset()` clears the cache. With `dynamic`, sizes are symbols
    from the first capture on; False makes a size dynamic when it first changes.

    Yields a list that grows by one `BackwardRun` with each backward on any thread, also with one that fails. A context
    entered while `torch.compiler.set_stance("force_eager")` is set captures nothing. Raises TypeError when
    `compiler_fn` is not callable; the backward raises it when the result of `compiler_fn` is not.
    """
    from dynascope.agent.backward.runtime import runtime

    return runtime.enable(compiler_fn, dynamic)


def disable() -> AbstractContextManager[None]:
    """Run the backwards in the context in eager mode, even inside `enable`."""
    from dynascope.agent.backward.runtime import runtime

    return runtime.disable()


def reset() -> None:
    """Turn off, clear the cached graphs, and count ids from `!0`, even if contexts are open.

    Raises RuntimeError inside a captured backward, and while one is captured.
    """
    from dynascope.agent.backward.runtime import runtime

    runtime.reset()


def record() -> AbstractContextManager[list[BackwardRun]]:
    """Report backwards (say, of `torch._dynamo.config.compiled_autograd`) without capturing."""
    from dynascope.agent.backward.runtime import runtime

    return runtime.record()
