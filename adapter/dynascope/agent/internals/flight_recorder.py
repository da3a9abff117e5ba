"""Read the collectives that torch's flight recorder keeps of gloo: those of graphs, autograd and C++, too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import torch
from msgspec import Struct, field

from dynascope.agent.internals.symbolic_shapes.fake_tensors import dtype_text

_EQUAL_SIZES = ("all_reduce", "broadcast", "reduce")
"""The operations whose tensors are as large in all ranks. gloo's reduce_scatter is recorded as an all_reduce."""
_BACKEND = "gloo"


class RecordedCollective(NamedTuple):
    """A collective that this rank has begun."""

    number: int
    """Its number in its process group, from 1 on."""
    operation: str
    """`all_reduce`: without what it computes."""
    takes: str
    """`f32[272]`; "" where ranks may pass other sizes."""
    thread: int
    """The identifier of the thread that began it, as `threading.get_ident` returns it."""


class RecordedGroup(NamedTuple):
    """The latest collectives of one process group."""

    backend: str
    collectives: list[RecordedCollective]
    ended: int
    """The number of the latest that has ended."""


class _Entry(Struct):
    pg_id: int
    process_group: tuple[str, str]
    profiling_name: str
    collective_seq_id: int
    input_sizes: list[list[int]] = field(default_factory=list)
    input_dtypes: list[str] = field(default_factory=list)
    thread_id: str = ""


class _Status(Struct):
    last_enqueued_collective: str = "-1"
    last_completed_collective: str = "-1"


class _Dump(Struct):
    entries: list[_Entry] = field(default_factory=list)
    pg_status: dict[str, _Status] = field(default_factory=dict)


_decode = msgspec.json.Decoder(_Dump, strict=False).decode


def collectives_in_progress() -> Mapping[str, tuple[str, str]]:
    """Return the numbers of the latest collectives to begin and to end, by process group."""
    return {
        group: (status.last_enqueued_collective, status.last_completed_collective)
        for group, status in _dumped(False).pg_status.items()
    }


def recorded_collectives(most: int) -> dict[str, RecordedGroup]:
    """Return the latest collectives of each process group, by its name: at most so many.

    Nothing of another backend: to read NCCL's asks its CUDA events, which a graph that is captured meanwhile forbids.
    """
    dump = _dumped(True)
    entries: dict[str, list[_Entry]] = {}
    for entry in dump.entries:
        if entry.profiling_name.startswith(f"{_BACKEND}:"):
            entries.setdefault(entry.process_group[0], []).append(entry)
    return {name: _group(of_group[-most:], dump.pg_status) for name, of_group in entries.items()}


def _group(entries: Sequence[_Entry], statuses: Mapping[str, _Status]) -> RecordedGroup:
    status = statuses.get(str(entries[-1].pg_id), _Status())
    return RecordedGroup(_BACKEND, [_collective(each) for each in entries], int(status.last_completed_collective))


def _collective(entry: _Entry) -> RecordedCollective:
    operation = entry.profiling_name.partition(":")[2]
    takes = ""
    if operation in _EQUAL_SIZES and entry.input_dtypes:
        takes = f"{_dtype(entry.input_dtypes[0])}[{sum(map(math.prod, entry.input_sizes))}]"
    thread = int(entry.thread_id) if entry.thread_id.isdecimal() else 0
    return RecordedCollective(entry.collective_seq_id, operation, takes, thread)


def _dtype(name: str) -> str:
    """Return `f32` for "Float"."""
    dtype = getattr(torch, name.lower(), None)
    return dtype_text(dtype) if isinstance(dtype, torch.dtype) else name


def _dumped(with_entries: bool) -> _Dump:
    """Return what is recorded. `torch._C._distributed_c10d._dump_fr_trace_json` (2.8)."""
    collectives: Any = getattr(torch._C, "_distributed_c10d", None)  # not every torch is built with it
    dump = getattr(collectives, "_dump_fr_trace_json", None)
    return _Dump() if dump is None else _decode(dump(includeCollectives=with_entries))
