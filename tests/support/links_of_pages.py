"""Let links that leave docs/ lead into the repository, where MkDocs builds the pages."""

from __future__ import annotations

import re
from typing import Any

OUT_OF_DOCS = re.compile(r"\]\(\.\./([^)\s]+)\)")


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Return the page with addresses in the repository for files that are not among the pages."""
    return OUT_OF_DOCS.sub(rf"]({config.repo_url}/blob/main/\1)", markdown)
