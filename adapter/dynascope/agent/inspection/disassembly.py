"""List the bytecode that Dynamo traces, with addresses valid for the whole session.

Every code object seen at a stop gets 1 MiB of addresses, and every instruction two bytes of it, in Dynamo's own order.
They are the same in each later compile of that code, and in the next run of the same program. Instruction 19 of the
code at `0x5c21f0e00000` is at `0x5c21f0e00026`.
"""

from __future__ import annotations

import threading
import types
import weakref
import zlib
from typing import Any

from dynascope.agent.internals.frames import instructions as bytecode
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.weak_keys import WeakKeys
from dynascope.agent.program.user_code import real_path
from dynascope.facts.file_names import short_name
from dynascope.wire.dap import DisassembleBody, DisassembledInstruction, Source
from dynascope.wire.to_agent import Disassemble

_ROOM = 1 << 20
_WIDTH = 2


class BadAddress(Exception):
    """Raised with a text for the user; `is_unknown`: code may get this address later."""

    def __init__(self, text: str, is_unknown: bool = False) -> None:
        super().__init__(text)
        self.is_unknown = is_unknown


class Listing:
    """The instructions of one code object, which is not kept alive."""

    def __init__(self, base: int, code: types.CodeType, instructions: tuple[Any, ...]) -> None:
        self.base = base
        self.path, self.function, self.code_id = code.co_filename, code.co_qualname, id(code)
        self._code = weakref.ref(code)
        self._instructions: WeakKeys[types.CodeType, tuple[Any, ...]] = WeakKeys()
        self._instructions.put(code, instructions)
        self._rows: list[bytecode.Instruction] | None = None

    def is_of(self, code: types.CodeType) -> bool:
        """Whether it lists this code object; another may have got the identity of one that is gone."""
        return self._code() is code

    @property
    def instructions(self) -> tuple[Any, ...]:
        """Return Dynamo's instructions.

        There are none once the code is dropped: their constants are the program's.
        """
        return self._instructions.get(self._code()) or ()

    @property
    def rows(self) -> list[bytecode.Instruction]:
        if self._rows is None:
            self._rows = bytecode.described(self.instructions)
        return self._rows

    def address(self, index: int) -> int:
        return self.base + index * _WIDTH

    def first_traced(self) -> int:
        """Return the index of the first instruction that belongs to a line, after the prologue."""
        names = [instruction.opname for instruction in self.instructions]
        return names.index("RESUME") + 1 if "RESUME" in names else 0


class Listings:
    """The listings of a session. Stopped threads add to them, the channel's thread reads them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # code may be dropped while it is held
        self._by_code: WeakKeys[types.CodeType, Listing] = WeakKeys()  # a listing goes with its code
        self._by_number: dict[int, weakref.ref[Listing]] = {}

    def address_of(self, translator: Translator) -> str:
        """Return the address of the frame's next instruction or, in a caller, the current one."""
        index = max(translators.current_index(translator), 0)
        return text_of(self.of(translator).address(index))

    def of(self, translator: Translator) -> Listing:
        """Return the listing of this frame's code, created at the first stop in it."""
        code = translators.code_of(translator)
        with self._lock:
            listing = self._by_code.get(code)
            if listing is None:
                self._by_number = {number: each for number, each in self._by_number.items() if each() is not None}
                number = number_of(code)
                while number in self._by_number:
                    number += 1
                listing = Listing(_ROOM * number, code, bytecode.instructions_of(translator))
                self._by_code.put(code, listing)
                self._by_number[number] = weakref.ref(listing)
            return listing

    def find(self, reference: str, offset: int = 0) -> tuple[Listing, int]:
        """Return listing and index of the instruction `offset` bytes on. Raises BadAddress."""
        listing, index = self._near(reference, offset)
        if index != int(index) or index >= len(listing.instructions):
            raise BadAddress(f"No instruction begins at {reference} + {offset}.")
        return listing, int(index)

    def _near(self, reference: str, offset: int) -> tuple[Listing, float]:
        try:
            address = int(reference, 0) + offset
        except ValueError:
            raise BadAddress(f"{reference!r} is not an address: use one of a listing (0x5c21f0e00026).") from None
        number, rest = divmod(address, _ROOM)
        with self._lock:
            known = self._by_number.get(number)
            listing = None if known is None else known()
        if listing is None:
            raise BadAddress(
                f"There is no code at {reference}: only code shown at a compile-time stop has addresses.", True
            )
        return listing, rest / _WIDTH

    def may_come(self, reference: str, offset: int) -> tuple[int, int] | None:
        """Return `number_of` and index for an address of code not seen yet; None if impossible."""
        try:
            number, rest = divmod(int(reference, 0) + offset, _ROOM)
        except ValueError:
            return None
        return (number, rest // _WIDTH) if number >> 27 == 1 and rest % _WIDTH == 0 else None

    def disassemble(self, request: Disassemble) -> DisassembleBody:
        """Return exactly the requested rows, `invalid` ones outside the code. Raises BadAddress."""
        listing, index = self._near(request.memory_reference, request.offset)
        first = int(index) + request.instruction_offset
        rows: list[DisassembledInstruction] = []
        for index in range(first, first + request.instruction_count):
            if 0 <= index < len(listing.rows):
                has_source = not rows or rows[-1].presentation_hint == "invalid"
                rows.append(_instruction(listing, index, has_source))
            else:
                text = text_of(max(listing.address(index), 0))
                rows.append(DisassembledInstruction(address=text, instruction="", presentation_hint="invalid"))
        return DisassembleBody(instructions=rows)


def text_of(address: int) -> str:
    return f"0x{address:012x}"


def number_of(code: types.CodeType) -> int:
    """Return 27 bits, equal for equal code in every process, plus a bit that marks addresses."""
    name = f"{code.co_filename}\0{code.co_qualname}\0{code.co_firstlineno}".encode()
    return 1 << 27 | zlib.crc32(code.co_code, zlib.crc32(name)) & (1 << 27) - 1


def _instruction(listing: Listing, index: int, has_source: bool) -> DisassembledInstruction:
    row = listing.rows[index]
    path = listing.path
    source = None
    if has_source:
        real = None if path.startswith("<") else real_path(path)
        source = Source(name=short_name(path), path=real)
    return DisassembledInstruction(
        address=text_of(listing.address(index)),
        instruction=_text(listing, row),
        symbol=listing.function,
        location=source,
        line=row.line,
        column=None if row.column is None else row.column + 1,
        end_line=row.end_line,
        end_column=None if row.end_column is None else row.end_column + 1,
    )


def _text(listing: Listing, row: bytecode.Instruction) -> str:
    argument = row.argument if row.target is None else f"to {text_of(listing.address(row.target))}"
    text = f"{row.opname:<24} {argument}".rstrip()
    if row.effect is None or row.depth is None:
        return text
    return f"{text:<56}  ; {row.effect:+d} → {row.depth}"
