"""Run `python -m dynascope_lsp`, which is the same as `dynascope lsp`."""

from __future__ import annotations

from dynascope_lsp.server import serve

serve()
