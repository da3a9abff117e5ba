"""`python -m dynascope_lsp`: the same as `dynascope lsp`."""

from __future__ import annotations

from dynascope_lsp.server import serve

serve()
