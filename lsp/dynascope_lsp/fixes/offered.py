"""The fixes that are offered for one finding."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope_lsp.fixes import branches, calls, dynamic, options, scalars
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot

KINDS = (branches.fixes, scalars.fixes, calls.fixes, dynamic.fixes, options.fixes, options.print_fix)


def offered(snapshot: Snapshot, finding: Finding) -> Iterator[Fix]:
    """Each title once."""
    titles: set[str] = set()
    for kind in KINDS:
        for fix in kind(snapshot.text, finding):
            if fix.title not in titles:
                titles.add(fix.title)
                yield fix
