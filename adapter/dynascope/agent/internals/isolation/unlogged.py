"""Keep what the debugger has torch do out of torch's logs."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keep what this thread does out of torch's logs: their readers want the program's compiles."""
    here, known = threading.get_ident(), list(logging.Logger.manager.loggerDict.items())
    loggers = [each for name, each in known if name.startswith("torch.") and isinstance(each, logging.Logger)]

    def is_of_another(record: logging.LogRecord) -> bool:
        return record.thread != here

    for logger in loggers:
        logger.addFilter(is_of_another)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_another)
