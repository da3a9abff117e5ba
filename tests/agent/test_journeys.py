"""A message passes through the functions that docs/architecture.md tells of, and through no more than it should."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.house import ARCHITECTURE
from tests.support.journeys import JOURNEYS, PROGRAM, Watch, debug, record

MOST = {"A breakpoint": 24, "A scope": 18, "What if": 17, "A step back": 30, "A fact": 25}
"""Two thirds of what they took at e1ac99b: 37, 28, 26 and 46. A fact took 21; since then one module explains it."""


def told(name: str) -> set[str]:
    """Return the functions that the page names on the way, as `dap/serving.py _serve_request`."""
    text = ARCHITECTURE.read_text().partition(f"\n**{name}**")[2]
    steps = re.split(r"\n\*\*|\n## ", text)[0]
    found = re.findall(r"`([\w/]+\.py)`\s+\(((?:`\w+`(?:,\s+)?)+)\)", steps)
    return {f"{path} {function}" for path, functions in found for function in re.findall(r"\w+", functions)}


def test_the_page_tells_each_journey_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    watch = Watch()
    with watch.watching():
        debug(watch, program)
        record(watch, program)
    hops = watch.hops()
    stale = {name: sorted(told(name) ^ set(hops[name])) for name in JOURNEYS}
    assert not any(stale.values()), stale
    assert {name: len(each) for name, each in hops.items() if len(each) > MOST[name]} == {}
