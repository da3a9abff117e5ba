"""What a name could be watched for: the answer to `dataBreakpointInfo` for what a user typed. Needs no torch."""

from __future__ import annotations

import os

from dynascope.agent.breakpoints.data import data_id
from dynascope.agent.breakpoints.data.data_id import DataId
from dynascope.wire.dap import DataAccess, DataBreakpointInfo

ALL: list[DataAccess] = ["read", "write", "readWrite"]
ACCESS: dict[str, list[DataAccess]] = {"source": ALL, "symbol": ["write"], "node": ["read"], "local": ALL}
"""What each kind of `DataId` offers."""


def info(name: str) -> DataBreakpointInfo:
    """A name that was said at no stop: it means whatever is called so, in any function."""
    try:
        on = data_id.of_name(name)
    except ValueError as error:
        return refusal(str(error))
    return offer(on, ACCESS[on.kind], can_persist=not data_id.is_of_one_compile(on))


def offer(on: DataId, access: list[DataAccess], can_persist: bool = True) -> DataBreakpointInfo:
    """A data breakpoint can be there."""
    file = "" if on.path == data_id.ANYWHERE else f" ({os.path.basename(on.path)})"
    return DataBreakpointInfo(
        data_id=str(on), description=f"{on.title}{file}", access_types=access, can_persist=can_persist
    )


def refusal(why: str) -> DataBreakpointInfo:
    """No data breakpoint can be there."""
    return DataBreakpointInfo(data_id=None, description=why)
