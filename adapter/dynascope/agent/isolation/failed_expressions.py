"""Free at once what the frames of a failed expression hold, and set torch's dispatch keys as they were before it.

Torch ends a state when it frees a variable of a frame: `torch._tensor_str._str` (2.0) has a `_DisableFuncTorch`, which
then sets all dispatch keys of the thread to those of its beginning (2.12). The frames of an exception live as long as
it does. Where a cycle keeps it, a garbage collection would set the keys later: in the middle of a kernel of torch's,
which then fails (`fake_mode.in_kernel_invocation must be False`).
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any


class DispatchKeys:
    """The keys that this thread includes and excludes (`_dispatch_tls_local_include_set`, 1.13); none before torch."""

    def __init__(self) -> None:
        self._torch: Any = sys.modules.get("torch._C")
        self._included, self._excluded = self._now()

    def after_failure(self, trace: types.TracebackType | None) -> None:
        """Free the variables of the frames of `trace`, and set the keys again."""
        traceback.clear_frames(trace)
        self.set_again()

    def set_again(self) -> None:
        """Set the keys as they were."""
        if self._torch is not None:
            included, excluded = self._now()
            _set(included, self._included, self._torch._dispatch_tls_set_dispatch_key_included)
            _set(excluded, self._excluded, self._torch._dispatch_tls_set_dispatch_key_excluded)

    def _now(self) -> tuple[Any, Any]:
        if not hasattr(self._torch, "_dispatch_tls_local_include_set"):  # torch is being imported
            self._torch = None
            return None, None
        return self._torch._dispatch_tls_local_include_set(), self._torch._dispatch_tls_local_exclude_set()


def _set(now: Any, wanted: Any, write: Any) -> None:
    if now.raw_repr() != wanted.raw_repr():
        for key in sys.modules["torch._C"].DispatchKey.__members__.values():  # type: ignore[attr-defined]
            if key.name != "Undefined" and now.has(key) != wanted.has(key):
                write(key, wanted.has(key))


@contextlib.contextmanager
def freed_on_failure() -> Iterator[None]:
    """Do so for an exception of the body."""
    keys = DispatchKeys()
    try:
        yield
    except BaseException as error:
        keys.after_failure(error.__traceback__)
        raise
