"""The batches of data loaders are counted without running code of the program."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.data_loaders import length_of
from torch.utils import data

ROWS = data.TensorDataset(torch.zeros(10, 2))


class OfProgram(data.Dataset):
    def __len__(self) -> int:
        raise AssertionError("code of the program has run")

    def __getitem__(self, index: int) -> int:
        return index


class Stream(data.IterableDataset):
    def __iter__(self) -> object:
        raise AssertionError("code of the program has run")


@pytest.mark.parametrize(
    ("loader", "batches"),
    [
        (data.DataLoader(ROWS, batch_size=3), 4),
        (data.DataLoader(ROWS, batch_size=3, shuffle=True, drop_last=True), 3),
        (data.DataLoader(data.Subset(OfProgram(), [1, 2]), batch_size=None), 2),
        (data.DataLoader(data.ConcatDataset([ROWS, ROWS]), batch_size=5), 4),
        (data.DataLoader([1, 2, 3]), 3),  # type: ignore[arg-type]
        (data.DataLoader(OfProgram(), sampler=data.DistributedSampler(ROWS, 4, 0), batch_size=2), 2),
        (data.DataLoader(OfProgram(), sampler=data.RandomSampler(ROWS, num_samples=7)), 7),
        (
            data.DataLoader(
                OfProgram(), batch_sampler=data.BatchSampler(data.SubsetRandomSampler([1, 2, 3]), 2, False)
            ),
            2,
        ),
        (data.DataLoader(OfProgram(), sampler=data.SequentialSampler(OfProgram())), None),
        (data.DataLoader(Stream()), None),
    ],
)
def test_batches_are_counted(loader: object, batches: int | None) -> None:
    assert length_of(loader) == batches


def test_a_dataset_of_the_program_as_an_argument_is_not_counted() -> None:
    assert length_of(OfProgram()) is None
    assert length_of(range(3)) == 3
