"""Count the elements of containers, and the batches of data loaders, without running code of the program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_CONTAINERS = (list, tuple, dict, set, frozenset, str, range)


def length_of(value: object) -> int | None:
    """Return the length of a container, or the batches of a `torch.utils.data.DataLoader`.

    None for another value, and where a dataset or sampler of the program would have to tell it.
    """
    kind = type(value)
    if kind in _CONTAINERS:
        return len(value)  # type: ignore[arg-type]
    data = sys.modules.get("torch.utils.data")
    count = _counts(data).get(kind) if data is not None else None
    return count(value) if count is not None else None


def is_data_loader(value: object) -> bool:
    """Whether a value is a `torch.utils.data.DataLoader`."""
    return type(value) is getattr(sys.modules.get("torch.utils.data"), "DataLoader", None)


def _counts(data: ModuleType) -> dict[type, Callable[[Any], int | None]]:
    """Return how each class of `torch.utils.data` is counted (samplers and datasets of 1.9)."""
    return {
        data.DataLoader: lambda each: length_of(each.sampler if each.batch_sampler is None else each.batch_sampler),
        data.BatchSampler: _batches,
        data.SequentialSampler: lambda each: length_of(each.data_source),
        data.RandomSampler: lambda each: each._num_samples or length_of(each.data_source),
        data.SubsetRandomSampler: lambda each: length_of(each.indices),
        data.DistributedSampler: lambda each: each.num_samples,
        data.TensorDataset: _rows,
        data.Subset: lambda each: length_of(each.indices),
        data.ConcatDataset: lambda each: each.cumulative_sizes[-1],
    }


def _rows(dataset: Any) -> int:
    with sys.modules["torch"]._C.DisableTorchFunction():  # no mode of the program may see it
        return int(dataset.tensors[0].shape[0])


def _batches(sampler: Any) -> int | None:
    samples, size = length_of(sampler.sampler), int(sampler.batch_size)
    if samples is None:
        return None
    return samples // size if sampler.drop_last else -(-samples // size)
