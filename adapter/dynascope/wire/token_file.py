"""The file in which a listening process leaves its token for adapters of the same user."""

from __future__ import annotations

import warnings
from pathlib import Path

import platformdirs


def token_file(port: int) -> Path:
    """Return the path of `listen-<port>.json` in the user's runtime directory: {"token": …}."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns on stderr when XDG_RUNTIME_DIR is not set
        return Path(platformdirs.user_runtime_dir("dynascope", appauthor=False)) / f"listen-{port}.json"
