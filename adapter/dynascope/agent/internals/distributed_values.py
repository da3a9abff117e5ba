"""Tell process groups, meshes and DTensors by texts that ranks can compare, without running code of the program."""

from __future__ import annotations

import sys

from dynascope.facts.comparison.plain_branch import DDP_SETTINGS, DTENSOR, PROCESS_GROUP
from dynascope.rank_names import named_ranks, ranks_text

_PLACEMENTS = "torch.distributed.tensor.placement_types"


def text_of(value: object) -> str | None:
    """Return a text about a process group, a mesh, a DTensor or a placement.

    None for another value. `distributed_c10d._world.pg_group_ranks` (2.0), `DeviceMesh.mesh_dim_names` (2.2),
    `DTensor._spec` (2.0).
    """
    kind = type(value)
    group, mesh, tensor = (
        getattr(sys.modules.get(f"torch.distributed.{module}"), name, None)
        for module, name in (
            ("distributed_c10d", "ProcessGroup"),
            ("device_mesh", "DeviceMesh"),
            ("tensor", "DTensor"),
        )
    )
    if kind is group:
        ranks = sys.modules["torch.distributed.distributed_c10d"]._world.pg_group_ranks.get(value)  # type: ignore[attr-defined]
        return None if ranks is None else f"{PROCESS_GROUP} of {named_ranks(ranks_text(ranks))}"
    if kind is mesh:
        names = object.__getattribute__(value, "_mesh_dim_names")
        return f"a DeviceMesh of {', '.join(names)}" if names else None
    if kind is tensor:
        told = [_placement(each) for each in object.__getattribute__(value, "_spec").placements]
        return f"{DTENSOR} with {', '.join(filter(None, told))}" if told and None not in told else None
    return _placement(value)


def settings_of(value: object) -> dict[str, object]:
    """Return the settings of a `DistributedDataParallel`; none of another value."""
    kind = getattr(sys.modules.get("torch.nn.parallel.distributed"), "DistributedDataParallel", None)
    own = object.__getattribute__(value, "__dict__") if type(value) is kind else {}
    return {name: own[name] for name in DDP_SETTINGS if type(own.get(name)) in (bool, int)}


def _placement(value: object) -> str | None:
    """Return `Shard(dim=0)`; None for a placement of the program's, or another value."""
    kind = type(value)
    is_placement = type.__getattribute__(kind, "__module__") in (_PLACEMENTS, "torch._C._distributed")
    return repr(value) if is_placement and hasattr(kind, "is_shard") else None
