"""`dynascope.comptime`: `torch._dynamo.comptime.comptime` by name, without side effects.

    comptime.print_locals()                          # in compiled code: what Dynamo knows at this line
    comptime(lambda ctx: print(ctx.graph()))         # `ctx` is the ComptimeContext of this frame

Printing, `assert_static` and stopping leave graphs, guards, bytecode and results those of the program without the call.
`force_static` and `graph_break` change the compile, as PyTorch's do. Works with and without a debugger. Outside a
compile a call runs its fallback, as PyTorch's does. This module imports no torch.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from dynascope.agent.program.import_hooks import when_imported


def _nothing() -> None:
    return None


class Comptime:
    """Run the fallbacks outside a compile. In one, Dynamo calls `api.comptime_calls` instead."""

    def __call__(self, fn: Callable[[Any], Any], fallback_fn: Callable[[], Any] = _nothing) -> None:
        """Call `fn` with the frame's `ComptimeContext` while Dynamo traces, else `fallback_fn`.

        `fn` may be a function, a lambda without free variables, or a method. torch._dynamo.comptime, 2.0.
        """
        fallback_fn()

    @staticmethod
    def graph_break() -> None:
        """Break the graph here (torch 2.0). Changes the compile."""

    @staticmethod
    def print(e: Any) -> None:
        """Print what Dynamo knows of a value (torch 2.2); outside a compile the value itself."""
        print(e)

    @staticmethod
    def print_graph() -> None:
        """Print the code of the graph so far (torch 2.0)."""

    @staticmethod
    def print_disas(*, stacklevel: int = 0) -> None:
        """Print the bytecode of the `stacklevel`-th caller, marking its instruction (torch 2.0)."""

    @staticmethod
    def print_value_stack(*, stacklevel: int = 0) -> None:
        """Print the operands on the value stack (torch 2.0), the deepest first."""

    @staticmethod
    def print_value_stack_and_return(e: Any, *, stacklevel: int = 0) -> Any:
        """Print the value stack in the middle of an expression, and return `e` (torch 2.1)."""
        return e

    @staticmethod
    def print_locals(*, stacklevel: int = 0) -> None:
        """Print every local that Dynamo tracks (torch 2.0)."""

    @staticmethod
    def print_bt(*, stacklevel: int = 0) -> None:
        """Print the stack of the frames being traced (torch 2.0)."""

    @staticmethod
    def print_guards() -> None:
        """Print the guards so far (torch 2.0)."""

    @staticmethod
    def assert_static(val: Any) -> None:
        """Raise AssertionError while compiling if this number is dynamic (torch 2.1)."""

    @staticmethod
    def force_static(val: Any) -> None:
        """Fix a dynamic number to its value, with a guard (torch 2.1). Changes the compile."""

    @staticmethod
    def breakpoint() -> None:
        """Stop at this line while Dynamo traces it (torch 2.1); else call Python's `breakpoint()`."""

    @staticmethod
    def sleep(sec: int | float) -> None:
        """Sleep while compiling, for `sec` seconds (torch 2.4)."""


comptime = Comptime()


def _answer(translator: Any, method: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    from dynascope.agent.session.api.comptime_calls import answer  # not before Dynamo has been imported as a whole

    bound = _signature(method).bind(*arguments, **keywords)
    bound.apply_defaults()
    return answer(translator, method, bound.arguments)


@functools.cache
def _signature(method: str) -> inspect.Signature:
    """Return the signature of a method. Raises AttributeError for an unknown one."""
    return inspect.signature(getattr(comptime, method))


def _meet_dynamo() -> None:
    from dynascope.agent.events.comptime import ComptimeTracing
    from dynascope.agent.isolation.unseen import never_trace
    from dynascope.agent.program.user_code import OUR_FOLDER

    never_trace([f"{OUR_FOLDER}/agent"])
    ComptimeTracing(comptime, _answer)


when_imported("torch._dynamo", _meet_dynamo)
