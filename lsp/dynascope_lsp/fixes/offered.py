"""Offer fixes for one finding, or advice where no fix is sure to be right."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope_lsp.fixes import branches, dynamic, options, printing, scalars
from dynascope_lsp.fixes.fix import Advice, Fix
from dynascope_lsp.fixes.preconditions.caught import CAUGHT, is_caught
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

KINDS = (branches.fixes, scalars.fixes, printing.fixes, dynamic.fixes, options.fixes)


def offered(snapshot: Snapshot, finding: Finding) -> Iterator[Fix | Advice]:
    """Yield the fixes and advice for a finding, each title once."""
    titles: set[str] = set()
    caught = is_caught(snapshot, finding)
    for kind in KINDS:
        for offer in kind(snapshot, finding):
            each = Advice(CAUGHT) if caught and isinstance(offer, Fix) else offer
            title = each.title if isinstance(each, Fix) else each.text
            if title not in titles:
                titles.add(title)
                yield each
