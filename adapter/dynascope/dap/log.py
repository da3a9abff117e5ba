"""Log the adapter's own errors to stderr and to a file in the user's state directory."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path

import platformdirs

logger = logging.getLogger("dynascope.dap")

FILE_SIZE = 1 << 20


def configure(path: Path | None, verbose: bool) -> None:
    """Log to stderr and to a file, rotated at `FILE_SIZE` bytes; one older file is kept."""
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
    logger.propagate = False
    console = logging.StreamHandler(sys.stderr)
    console.setLevel(logging.DEBUG if verbose else logging.WARNING)
    console.setFormatter(logging.Formatter("dynascope dap: %(message)s"))
    logger.addHandler(console)
    file = path or Path(platformdirs.user_state_dir("dynascope", appauthor=False)) / "dap.log"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(file, maxBytes=FILE_SIZE, backupCount=1, delay=True)
    except OSError as error:
        logger.warning("no log file: %s", error)
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    logger.addHandler(handler)
