"""`make demo`: the main job at work, by the same commands a user types after `dynascope debug`.

Prints what the debugger prints, and fails when it did not stop while Dynamo traced.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED = (
    "● compile time  Block.forward [0/0]",
    "(dynascope) back\n● compile time  Attention.forward [0/0]  tiny_gpt.py:19",
    "  tiny_gpt.py:19  made f32[",
    "● compile time  TinyGPT.forward [1/0]",
    "── the running program ──",
    "● run time  main",
    "ended with exit code 0",
)


def main() -> int:
    environment = dict(os.environ)
    if sys.stdout.isatty():
        environment.setdefault("FORCE_COLOR", "1")  # the debugger writes to a pipe here, on its way to this terminal
    command = ["dynascope", "debug", "--commands", "commands.txt", "tiny_gpt.py"]
    print(f"$ {' '.join(command)}", flush=True)
    debugger = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=HERE, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert debugger.stdout is not None
    shown = []
    try:
        for line in debugger.stdout:
            text = line.decode(errors="replace")
            shown.append(text)
            print(text, end="", flush=True)
    except KeyboardInterrupt:
        debugger.terminate()
    code = debugger.wait()
    missing = [text for text in EXPECTED if text not in plain("".join(shown))]
    if missing:
        print(f"\nThe demo did not show what it should: {', '.join(missing)}", file=sys.stderr)
        return code or 1
    print("\nNow yours:  dynascope debug -b FILE:LINE SCRIPT   (or in VS Code: see README.md)")
    return code


def plain(text: str) -> str:
    """Without colours."""
    return "".join(part.partition("m")[2] if index else part for index, part in enumerate(text.split("\x1b[")))


if __name__ == "__main__":
    sys.exit(main())
