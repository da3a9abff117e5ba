"""Keep the frames of wrappers out of the tracebacks of the program's errors.

What shows frames while they run still shows them: `traceback.print_stack`, `faulthandler`, a stack that torch logs, the
frame that a signal handler gets. Only what is left of a frame in a traceback can be taken out.
"""

from __future__ import annotations

import types


class _HiddenFrame:
    """Take the frame that enters this out of the traceback of an error that passes through it."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        if error is not None and trace is not None:
            error.__traceback__ = trace.tb_next  # Python raises it again from there, without an entry for the frame


hidden_frame = _HiddenFrame()
