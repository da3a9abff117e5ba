"""Where a process that listens leaves its token for adapters of the same user."""

from __future__ import annotations

import warnings
from pathlib import Path

import platformdirs


def token_file(port: int) -> Path:
    """`listen-<port>.json` in the user's runtime directory: an object whose `token` is the session's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on the user's stderr when XDG_RUNTIME_DIR is not set
        return Path(platformdirs.user_runtime_dir("dynascope", appauthor=False)) / f"listen-{port}.json"
