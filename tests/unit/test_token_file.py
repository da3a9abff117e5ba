"""Files with tokens go with the processes that they are of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from dynascope.wire.listening import remove_abandoned


def test_only_files_of_processes_that_have_ended_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    texts = {
        "listen-1.json": json.dumps({"token": "a", "pid": ended.pid}),
        "listen-2.json": json.dumps({"token": "b", "pid": os.getpid()}),
        "listen-3.json": json.dumps({"token": "c", "pid": 1}),  # another user's
        "listen-4.json": "not JSON",
        "listen-5.json": "[]",
        "other.json": json.dumps({"pid": ended.pid}),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    remove_abandoned(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == texts.keys() - {"listen-1.json"}
