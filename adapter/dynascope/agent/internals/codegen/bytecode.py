"""Write code that Dynamo generated as `dis` shows it, without calling a method of the program's objects."""

from __future__ import annotations

import dis
import io
import types

from dynascope.agent.internals.frames.instructions import constant_text
from dynascope.facts.generated.model import CODE_KEPT, Bytecode


class _Shown:
    """A stand-in for a constant: its `repr` is the constant's text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def listing(code: types.CodeType) -> str:
    """Return a listing below a line that names the code.

    Constants may be any object of the program, such as the globals of a nested function that is made again
    (`NestedUserFunctionVariable.reconstruct`, 2.0).
    """
    text = io.StringIO()
    text.write(f"{code.co_qualname}, from {code.co_filename}:{code.co_firstlineno}\n\n")
    dis.dis(_shown(code), file=text, depth=1)
    return text.getvalue()


def bytecode_of(code: types.CodeType) -> Bytecode:
    """Return generated code (`GuardedCode.code`, 2.0) as a fact."""
    text = listing(code)
    return Bytecode(text[:CODE_KEPT], max(0, len(text) - CODE_KEPT))


def _shown(code: types.CodeType) -> types.CodeType:
    return code.replace(co_consts=tuple(map(_stand_in, code.co_consts)))


def _stand_in(constant: object) -> object:
    return _shown(constant) if type(constant) is types.CodeType else _Shown(constant_text(constant))
