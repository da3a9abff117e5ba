"""Run a program recorded, as `record_launcher` does, with other texts in the place of some of its files.

`python -m dynascope.agent.session.startup.trial_launcher TEXTS (FILE | -m MODULE) [ARGUMENT ...]`: TEXTS is a JSON
file, paths and what this process is to read in their place. The files stay as they are. Random numbers begin with the
same seed in each trial.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import sys
from importlib.machinery import SourceFileLoader
from typing import Any

from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.session.startup import record_launcher, runpy

SEED = 0


def main() -> runpy.Start:
    """Put the texts in the place of the files, and begin to record; returns what is to be run."""
    with open(sys.argv.pop(1), encoding="utf-8") as file:
        _replace({os.path.realpath(path): text for path, text in json.load(file).items()})
    random.seed(SEED)
    when_imported("torch", lambda: sys.modules["torch"].manual_seed(SEED))
    return record_launcher.main()


def _replace(texts: dict[str, str]) -> None:
    """Replace files for imports, for the program itself, and for whatever shows source lines."""
    contents = {path: text.encode() for path, text in texts.items()}
    read, stats, open_code = SourceFileLoader.get_data, SourceFileLoader.path_stats, io.open_code

    def get_data(loader: SourceFileLoader, path: str) -> bytes:
        return contents.get(os.path.realpath(path)) or read(loader, path)

    def path_stats(loader: SourceFileLoader, path: str) -> Any:
        if os.path.realpath(path) in contents:
            raise OSError("no compiled file stands for this text")
        return stats(loader, path)

    def open_replaced(path: str) -> Any:
        content = contents.get(os.path.realpath(path))
        return open_code(path) if content is None else io.BytesIO(content)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign, assignment]
    SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign, assignment]
    io.open_code = open_replaced
    for path, text in texts.items():
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


if __name__ == "__main__":
    runpy.run(main())
