"""Thousands of rows for a client that cannot page, and thousands of names to complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dap.client import DapClient

PROGRAM = "\n".join(
    [
        "import torch",
        "def f(x):",
        "    elements = list(range(1_234))",
        *(f"    local_{i} = x" for i in range(1_000)),
        "    return x * 2",
        "torch.compile(f, backend='eager')(torch.ones(2))",
        "",
    ]
)
STOP = 1_004


@pytest.mark.parametrize("pages", [True, False])
def test_a_client_that_cannot_page_gets_the_rest_below_a_row(client: DapClient, tmp_path: Path, pages: bool) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    configuration = {"program": str(path), "console": "internalConsole", "subProcess": False, "runtime": False}
    client.launch(configuration, {path: [STOP]}, initialize={"supportsVariablePaging": pages})
    stop = client.wait_for_stop()
    elements = stop.variables(stop.evaluate("elements").variables_reference)
    if pages:
        assert list(elements)[-1] == "[1233]"  # whoever asks for all of it gets all of it
    else:
        *first, more = elements
        assert len(first) == 100 and more == "more"
        ranges = stop.variables(elements["more"].variables_reference)
        assert list(ranges)[:2] == ["[100:200]", "[200:300]"] and ranges["[100:200]"].value == "100 rows"
        rows = dict(elements)
        del rows["more"]
        for each in ranges.values():
            below = stop.variables(each.variables_reference)
            assert len(below) <= 100
            rows |= below
        assert [name for name in rows if name.startswith("[")] == [f"[{i}]" for i in range(1_234)]
        assert rows["[1233]"].value == "1233"
        assert "more" in stop.locals() and "local_999" not in stop.locals()
    frame = stop.frames(0, 1)[0].id

    def completed(text: str) -> dict[str, str]:
        wanted = {"text": text, "column": len(text) + 1, "frameId": frame}
        return {each["label"]: each["detail"] for each in client.request("completions", wanted)["targets"]}

    assert completed("local_99") == {f"local_{i}": "f32[2]" for i in (99, *range(990, 1_000))}
    everything = completed("")
    assert everything["local_0"] == "f32[2]" and everything["local_999"] == "" and "ctx" in everything
    assert "append" in completed("elements.") and "shape" in completed("local_5.s")
    stop.resume()
    assert client.wait_for_end() == 0
