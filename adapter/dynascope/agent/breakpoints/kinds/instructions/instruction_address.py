"""A breakpoint at an instruction, with the code that its address belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from dynascope.agent.breakpoints.breakpoint import Breakpoint
from dynascope.agent.inspection.disassembly import Listing


@dataclass
class AddressedBreakpoint:
    """A breakpoint at instruction `index` of a listing, or of the number of untraced code."""

    breakpoint: Breakpoint
    code: Listing | int
    index: int
