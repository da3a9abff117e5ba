"""A breakpoint at an instruction, and the code that its address is in."""

from __future__ import annotations

from dataclasses import dataclass

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.documents.disassembly import Listing


@dataclass
class AddressedBreakpoint:
    """A breakpoint at the instruction `index` of a listing, or of code not yet traced, which its number stands for."""

    breakpoint: Breakpoint
    code: Listing | int
    index: int
