"""Links between the pages of the docs lead somewhere, and every page is reached from the README or the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.marks import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Each link of a page that stays in the repository: as it is written, the file, the anchor."""
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not link.startswith(("http:", "https:")):
            path, _, anchor = link.partition("#")
            yield link, (page.parent / path).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them, and those that it sets itself."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).strip().lower() for each in headings]
    made = {re.sub(r"[^\w\- ]", "", each).replace(" ", "-") for each in plain}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


def test_no_link_is_dead():
    dead = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link, path, anchor in links(page)
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path))
    ]
    assert dead == []


def test_every_page_is_reached_from_the_readme():
    reached, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += [path for _, path, _ in links(page) if path.suffix == ".md" and path.exists()]
    assert {page.name for page in PAGES} - {page.name for page in reached} == set()
