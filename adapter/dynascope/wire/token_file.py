"""The file in which a listening process leaves its token for adapters of the same user."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path

import platformdirs


def token_file(port: int) -> Path:
    """Return the path of `listen-<port>.json` in the user's runtime directory: {"token": …}."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns on stderr when XDG_RUNTIME_DIR is not set
        return Path(platformdirs.user_runtime_dir("dynascope", appauthor=False)) / f"listen-{port}.json"


def remove_abandoned(folder: Path) -> None:
    """Remove the files of processes that have ended without removing theirs, as killed ones do."""
    for file in folder.glob("listen-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            try:
                os.kill(int(json.loads(file.read_bytes())["pid"]), 0)
            except ProcessLookupError:
                file.unlink()
