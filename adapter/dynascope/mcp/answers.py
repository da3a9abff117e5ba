"""Bound the text of an answer: an agent pays for each token that it reads, and loses its place in long ones."""

from __future__ import annotations

LIMIT = 3_300
"""The most characters of an answer: at most 1,200 tokens, of three characters where a text is mostly code."""
_LINE = 600
"""The most characters of a line: the longest remedies have 450."""
_END = 250
"""Characters that are kept for what an answer ends with."""


def answer(text: str, page: int = 1, then: str = "") -> str:
    """Return a page of a text, cut between lines, how to get the next page, and what to do next."""
    pages = _pages([shortened(line) for line in text.splitlines()])
    page = min(max(page, 1), len(pages))
    more = [f"… page {page} of {len(pages)}: ask again with page={page + 1}."] if page < len(pages) else []
    return "\n".join([*pages[page - 1], *more, *([f"Next: {then}"] if then else [])])


def shortened(line: str) -> str:
    """Return a line without its middle if it is long: its end often tells what differs."""
    return line if len(line) <= _LINE else f"{line[: _LINE - 100]} … {line[-90:]}"


def last_lines(text: str, number: int) -> list[str]:
    """Return the last lines of a program's output, each marked as such."""
    return [f"  | {shortened(line)}" for line in text.splitlines()[-number:]]


def _pages(lines: list[str]) -> list[list[str]]:
    pages: list[list[str]] = [[]]
    size = 0
    for line in lines:
        if pages[-1] and size + len(line) + 1 > LIMIT - _END:
            pages.append([])
            size = 0
        pages[-1].append(line)
        size += len(line) + 1
    return pages
