"""Sessions with a program whose backward is captured."""

from __future__ import annotations

import math
from typing import Any

from tests.support.dap.client import DapClient
from tests.support.marks import PROGRAMS

TRAIN = PROGRAMS / "backward" / "train.py"
EAGER = TRAIN.with_name("eager.py")


def configuration(**more: Any) -> dict[str, Any]:
    return {"program": str(TRAIN), "console": "internalConsole", "subProcess": False, "redirectOutput": True} | more


def ends_well(client: DapClient) -> bool:
    assert client.wait_for_end() == 0
    assert "backward 0: captured as graph !0" in client.output("console")
    output = client.output("stdout").split()
    return output[0] == "after" and math.isclose(float(output[1]), 24 * math.cos(4), rel_tol=1e-4)
