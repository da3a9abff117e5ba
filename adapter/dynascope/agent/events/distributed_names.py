"""The names private to torch's distributed package that the agent wraps, each declared once.

Imports no torch.
"""

from __future__ import annotations

from functools import partial

from dynascope.agent.events.declared_names import RUN_TIME_COLLECTIVES, TIMEOUTS, TorchName, declare, later

DISTRIBUTED = later("torch.distributed.distributed_c10d")
PROCESS_GROUPS = later("torch._C._distributed_c10d")
OPERATORS = "torch.ops"
FULLY_SHARD = later("torch.distributed.fsdp._fully_shard._fsdp_param_group")

_distributed = partial(declare, DISTRIBUTED)
RENDEZVOUS = _distributed("rendezvous", "url, ...", "1.0", TIMEOUTS)
NEW_PROCESS_GROUP = _distributed(
    "_new_process_group_helper",
    "group_size, group_rank, global_ranks_in_group, backend, store, group_name, ...",
    "1.8",
    TIMEOUTS,
)
SPLIT_GROUP = _distributed("split_group", "parent_pg, split_ranks, timeout, ...", "2.4", TIMEOUTS)
NEW_GROUP = _distributed("_new_group_with_tag", "ranks, ...", "2.0", RUN_TIME_COLLECTIVES)
UPDATE_DEFAULT_GROUP = _distributed("_update_default_pg", "pg", "2.1", RUN_TIME_COLLECTIVES, may_be_absent=True)


_FUNCTIONAL = ["all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast"]
_FUNCTIONAL_OF_MANY = [f"{each}_coalesced" for each in _FUNCTIONAL[:3]]


def _methods_of_groups(names: str) -> tuple[TorchName, ...]:
    return tuple(
        declare(PROCESS_GROUPS, f"ProcessGroup.{name}", None, "1.13", RUN_TIME_COLLECTIVES, may_be_absent=True)
        for name in names.split()
    )


COLLECTIVES = _methods_of_groups(
    "allreduce allreduce_coalesced broadcast reduce allgather _allgather_base all_gather_single allgather_coalesced"
    " allgather_into_tensor_coalesced all_gather_single_coalesced reduce_scatter _reduce_scatter_base"
    " reduce_scatter_single reduce_scatter_tensor_coalesced reduce_scatter_single_coalesced gather scatter alltoall"
    " alltoall_base all_to_all_single gather_single gather_into_tensor barrier"
)
"""The methods by which Python code calls collectives."""
BROADCAST_COALESCED = declare(
    later("torch.distributed"),
    "_broadcast_coalesced",
    None,
    "1.7",
    RUN_TIME_COLLECTIVES,
    may_be_absent=True,
)
"""The function that broadcasts many parameters or buffers, for DistributedDataParallel and FSDP.

It calls several collectives in C++.
"""
FUNCTIONAL_COLLECTIVES = {
    declare(OPERATORS, f"{name}._op", None, "2.1", RUN_TIME_COLLECTIVES, may_be_absent=True): name.rpartition(".")[2]
    for name in (
        *(f"_c10d_functional.{name}" for name in (*_FUNCTIONAL, *_FUNCTIONAL_OF_MANY)),
        *(f"_c10d_functional_autograd.{name}" for name in _FUNCTIONAL[1:4]),
        "_dtensor.shard_dim_alltoall",
    )
}
"""The operators by which `torch.distributed` calls functional collectives, those of DTensors among them."""
EXCHANGES_OF_SOME = _methods_of_groups("send recv recv_anysource monitored_barrier")
"""The methods that not all ranks of a group call alike."""
SEND, RECEIVE = EXCHANGES_OF_SOME[:2]
PREPARE_FOR_BACKWARD = declare(
    PROCESS_GROUPS, "Reducer.prepare_for_backward", None, "1.7", RUN_TIME_COLLECTIVES, may_be_absent=True
)
FSDP_COLLECTIVES = tuple(
    declare(FULLY_SHARD, name, "fsdp_params, ...", "2.6", RUN_TIME_COLLECTIVES, may_be_absent=True)
    for name in ("foreach_all_gather", "foreach_reduce")
)
"""The functions of FSDP2 that gather the parameters of a module, and reduce their gradients."""
