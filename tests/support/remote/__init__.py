"""Stand-ins for `ssh` and `kubectl`: their other machine is this one."""

from __future__ import annotations

import sys
from pathlib import Path

STAND_IN = Path(__file__).with_name("stand_in.py")


def install(folder: Path) -> Path:
    """Write both commands into a folder; return the file to which they add their arguments, a line each.

    With them is an `id` of nobody, for whom programs of other tests leave no files in /tmp.
    """
    folder.mkdir()
    nobody = folder / "id"
    nobody.write_text("#!/bin/sh\necho 4294967294\n")
    nobody.chmod(0o755)
    for name in ("ssh", "kubectl"):
        command = folder / name
        command.write_text(f'#!/bin/sh\necho {name} "$@" >>"{folder}/log"\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
        command.chmod(0o755)
    return folder / "log"
