"""Listings of the bytecode Dynamo traces, with an address for each instruction, good for the whole session.

Every code object seen at a stop gets 1 MiB of addresses, and every instruction two bytes of it, in Dynamo's own order:
the same in each later compile of that code, and in a next run of the same program. Instruction 19 of the code at
`0x5c21f0e00000` is at `0x5c21f0e00026`.
"""

from __future__ import annotations

import os
import threading
import types
import zlib
from typing import Any

from dynascope.agent.internals.frames import instructions as bytecode
from dynascope.agent.internals.frames import resume, translators
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.program.user_code import real_path
from dynascope.wire.dap import DisassembleBody, DisassembledInstruction, Source
from dynascope.wire.to_agent import Disassemble

_ROOM = 1 << 20
_WIDTH = 2


class BadAddress(Exception):
    """No instruction is there; the text is for the user. `is_unknown`: code may come to be there."""

    def __init__(self, text: str, is_unknown: bool = False) -> None:
        super().__init__(text)
        self.is_unknown = is_unknown


class Listing:
    """The instructions of one code object, which lives as long as this does."""

    def __init__(self, base: int, code: types.CodeType, instructions: tuple[Any, ...]) -> None:
        self.base = base
        self.code = code
        self.original = resume.original_code(code)
        self.instructions = instructions
        """Dynamo's."""
        self._rows: list[bytecode.Instruction] | None = None

    @property
    def rows(self) -> list[bytecode.Instruction]:
        if self._rows is None:
            self._rows = bytecode.described(self.instructions)
        return self._rows

    def address(self, index: int) -> int:
        return self.base + index * _WIDTH

    def first_traced(self) -> int:
        """Index of the first instruction that belongs to a line: what comes before only makes the frame ready."""
        names = [each.opname for each in self.instructions]
        return names.index("RESUME") + 1 if "RESUME" in names else 0


class Listings:
    """All of a session. Stopped threads add to it, the channel's thread reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_code: dict[int, Listing] = {}
        self._by_number: dict[int, Listing] = {}

    def address_of(self, translator: Translator) -> str:
        """Of the instruction that this frame is about to trace, or, in a caller, is tracing."""
        index = max(translators.current_index(translator), 0)
        return text_of(self.of(translator).address(index))

    def of(self, translator: Translator) -> Listing:
        """The listing of what this frame runs; made at the first stop in it."""
        code = translators.code_of(translator)
        with self._lock:
            known = self._by_code.get(id(code))
            if known is None:
                number = number_of(code)
                while number in self._by_number:
                    number += 1
                known = Listing(_ROOM * number, code, bytecode.instructions_of(translator))
                self._by_code[id(code)] = self._by_number[number] = known
            return known

    def find(self, reference: str, offset: int = 0) -> tuple[Listing, int]:
        """The listing, and the index of the instruction, at `reference` plus `offset` bytes. Raises BadAddress."""
        listing, index = self._near(reference, offset)
        if index != int(index) or index >= len(listing.instructions):
            raise BadAddress(f"No instruction begins at {reference} + {offset}.")
        return listing, int(index)

    def _near(self, reference: str, offset: int) -> tuple[Listing, float]:
        """The code object that owns an address, and the number of instructions before it. Raises BadAddress."""
        try:
            address = int(reference, 0) + offset
        except ValueError:
            raise BadAddress(f"{reference!r} is no address: take one of a listing (0x5c21f0e00026).") from None
        number, rest = divmod(address, _ROOM)
        with self._lock:
            listing = self._by_number.get(number)
        if listing is None:
            raise BadAddress(
                f"There is no code at {reference}: only what a compile-time stop has shown has addresses.", True
            )
        return listing, rest / _WIDTH

    def may_come(self, reference: str, offset: int) -> tuple[int, int] | None:
        """Of an address of code that is still to be seen: its `number_of`, and the index; None where no code can be."""
        try:
            number, rest = divmod(int(reference, 0) + offset, _ROOM)
        except ValueError:
            return None
        return (number, rest // _WIDTH) if number >> 27 == 1 and rest % _WIDTH == 0 else None

    def disassemble(self, request: Disassemble) -> DisassembleBody:
        """Exactly as many instructions as were asked for, those outside the code `invalid`. Raises BadAddress."""
        listing, index = self._near(request.memory_reference, request.offset)
        first = int(index) + request.instruction_offset
        found: list[DisassembledInstruction] = []
        for index in range(first, first + request.instruction_count):
            if 0 <= index < len(listing.rows):
                tells_source = not found or found[-1].presentation_hint == "invalid"
                found.append(_instruction(listing, index, tells_source))
            else:
                text = text_of(max(listing.address(index), 0))
                found.append(DisassembledInstruction(address=text, instruction="", presentation_hint="invalid"))
        return DisassembleBody(instructions=found)


def text_of(address: int) -> str:
    return f"0x{address:012x}"


def number_of(code: types.CodeType) -> int:
    """27 bits that are the same for the same code in every process, above those that nobody takes for an address."""
    known = f"{code.co_filename}\0{code.co_qualname}\0{code.co_firstlineno}".encode()
    return 1 << 27 | zlib.crc32(code.co_code, zlib.crc32(known)) & (1 << 27) - 1


def _instruction(listing: Listing, index: int, tells_source: bool) -> DisassembledInstruction:
    row = listing.rows[index]
    path = listing.code.co_filename
    source = None
    if tells_source:
        real = None if path.startswith("<") else real_path(path)
        source = Source(name=os.path.basename(path), path=real)
    return DisassembledInstruction(
        address=text_of(listing.address(index)),
        instruction=_text(listing, row),
        symbol=listing.code.co_qualname,
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
