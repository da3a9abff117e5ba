"""Find generated code that a debugger cannot keep in a dictionary."""

from __future__ import annotations

import sys
import types


class GeneratedCode:
    """Examine each generated code object once."""

    def __init__(self) -> None:
        self._seen = 0

    def new_unhashable(self) -> types.CodeType | None:
        """Return the first unhashable code since the last call (`convert_frame.output_codes`, 2.0).

        Dynamo puts a function's globals among the constants of code that makes a nested function or class again
        (`NestedUserFunctionVariable.reconstruct`, 2.0), and a code object is hashed with its constants.
        """
        seen = sys.modules["torch._dynamo.convert_frame"].output_codes.seen
        if len(seen) < self._seen:  # torch._dynamo.reset()
            self._seen = 0
        new, self._seen = seen[self._seen :], len(seen)
        codes = (reference() for reference in new)
        return next((code for code in codes if code is not None and not is_hashable(code)), None)


def is_hashable(code: types.CodeType) -> bool:
    """Whether `code` has a hash; what `NestedUserFunctionVariable` (2.0) makes again has none."""
    try:
        hash(code)
    except TypeError:
        return False
    return True
