"""The answer to `dataBreakpointInfo` for a name typed without a frame. Needs no torch."""

from __future__ import annotations

import os

from dynascope.agent.breakpoints.data import data_id
from dynascope.agent.breakpoints.data.data_id import DataId
from dynascope.wire.dap import DataAccess, DataBreakpointInfo

ALL: list[DataAccess] = ["read", "write", "readWrite"]
ACCESS: dict[str, list[DataAccess]] = {"source": ALL, "symbol": ["write"], "node": ["read"], "local": ALL}
"""The access types of each kind of `DataId`."""


def info(name: str) -> DataBreakpointInfo:
    """Answer for a name typed without a frame, which means that name in any function."""
    try:
        on = data_id.of_name(name)
    except ValueError as error:
        return refusal(str(error))
    return offer(on, ACCESS[on.kind], can_persist=not data_id.is_of_one_compile(on))


def offer(on: DataId, access: list[DataAccess], can_persist: bool = True) -> DataBreakpointInfo:
    """Return the answer that a data breakpoint can be set there."""
    file = "" if on.path == data_id.ANYWHERE else f" ({os.path.basename(on.path)})"
    return DataBreakpointInfo(
        data_id=str(on), description=f"{on.title}{file}", access_types=access, can_persist=can_persist
    )


def refusal(why: str) -> DataBreakpointInfo:
    """Return the answer that no data breakpoint can be set there."""
    return DataBreakpointInfo(data_id=None, description=why)
