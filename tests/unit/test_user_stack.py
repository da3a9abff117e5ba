"""The line to which a graph break is put: the innermost outside Dynamo, or the call of Python's library."""

from __future__ import annotations

import pytest
from dynascope.facts.user_stack import UserFrame, to_blame

LIBRARY = "/usr/lib/python3.12"
USERS, COPIED = UserFrame("/home/me/train.py", 14, "evaluate"), UserFrame(f"{LIBRARY}/copy.py", 153, "deepcopy")
OF_TORCH = UserFrame("/v/lib/python3.11/site-packages/torch/optim/optimizer.py", 79, "inner")
INSTALLED = UserFrame(f"{LIBRARY}/site-packages/timm/layers.py", 8, "forward")
ON_WINDOWS = UserFrame(r"C:\Python312\Lib\site-packages\timm\layers.py", 8, "forward")
POLYFILL = UserFrame(f"{LIBRARY}/site-packages/torch/_dynamo/polyfills/itertools.py", 47, "chain")


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ([USERS], USERS),
        ([USERS, COPIED, COPIED], USERS),
        ([USERS, INSTALLED], INSTALLED),
        ([USERS, OF_TORCH], USERS),
        ([USERS, OF_TORCH, USERS, OF_TORCH, COPIED], USERS),
        ([USERS, INSTALLED, OF_TORCH], OF_TORCH),
        ([USERS, INSTALLED, COPIED], COPIED),  # the user did not call it
        ([USERS, POLYFILL], USERS),
        ([USERS, COPIED, POLYFILL], USERS),
        ([USERS, UserFrame("/usr/lib64/python3.12/copy.py", 1, "copy")], USERS),
        ([USERS, UserFrame(r"C:\Users\me\Python312\Lib\copy.py", 1, "copy")], USERS),
        ([USERS, ON_WINDOWS], ON_WINDOWS),
        ([USERS, COPIED, USERS], USERS),
        ([COPIED], COPIED),
        ([POLYFILL], None),
        ([], None),
    ],
)
def test_the_line_of_a_break(stack: list[UserFrame], expected: UserFrame | None):
    assert to_blame(stack) == expected
