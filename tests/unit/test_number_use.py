"""A number taken of a tensor is told to be a size only where Python decides nothing by it."""

from __future__ import annotations

import pytest
from dynascope.facts.number_use import is_size

SIZES = [
    "k = n.item()\nreturn x[:k].sum()\n",
    "k = int(n)\nreturn torch.zeros(k, 4) + 1\n",
    "k = int(lens.max())\nreturn F.pad(x, (0, 0, 0, k - 5))\n",
    "k = min(int(lens[0]), x.shape[0])\nreturn x[:k] * 2\n",
    "k = n.item()\ntorch._check(k >= 0)\ntorch._check(k <= x.shape[0])\nreturn x[:k]\n",
    "for n in lens.tolist():\n    parts.append(x[i : i + n].mean(0))\n    i += n\nreturn torch.stack(parts)\n",
    "starts = lens.cumsum(0).tolist()\nreturn torch.cat([x[s - 1 : s] for s in starts])\n",
    "a, b = lens.tolist()\nreturn x.split([a, b])\n",
    "k = x.max().item()\nmask = torch.arange(8) < k\nreturn x[:, :k] * mask, k\n",
    "out.append(x[: n.item()])\n",
]
OTHERS = [
    "k = n.item()\nif k > 3:\n    x = x * 2\ny = x[:k]\n",
    "k = n.item()\ny = x[:k]\nif y.shape[0] > 2:\n    y = y * 2\n",
    "k = n.item()\nfor i in range(k):\n    x = x[:k]\n",
    "k = n.item()\nprint(k)\ny = x[:k]\n",
    "k = n.item()\nreturn x / k\n",
    "k = n.item()\ny = experts[k](x)\n",
    "k = n.item()\ny = x[:k]\nlogger.info(f'{k} rows')\n",
    "k = int(n) if n is not None else 3\ny = x[:k]\n",
    "loss = losses.mean().item()\nself.total += loss\n",
    "k = (\n",
    "# nothing\n",
]


@pytest.mark.parametrize("text", SIZES)
def test_a_size_or_the_end_of_a_slice_is_one(text: str) -> None:
    within = "def f(x, n):\n    if x is not None:\n" + "".join(f"        {line}\n" for line in text.splitlines())
    within += "    elif n is not None:\n        return n\n"
    assert is_size(text.splitlines(keepends=True), 1)
    assert is_size(within.splitlines(keepends=True), 3)


@pytest.mark.parametrize("text", OTHERS)
def test_a_number_by_which_python_decides_is_none(text: str) -> None:
    assert not is_size(text.splitlines(keepends=True), 1)
