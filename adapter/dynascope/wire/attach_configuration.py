"""Tell a user how a debugger attaches to a program that listens: in VS Code, and at the prompt."""

from __future__ import annotations

import json
from typing import Any


def how_to_attach(host: str, port: int, name: str, remote_folder: str | None = None) -> str:
    """Return the configuration for VS Code's `launch.json`, and the command of a terminal.

    `remote_folder` is where the program has what is in the workspace here; None if it is on this machine.
    """
    configuration: dict[str, Any] = {
        "type": "dynascope",
        "request": "attach",
        "name": name,
        "connect": {"host": host, "port": port},
    }
    if remote_folder:
        configuration["pathMappings"] = [{"localRoot": "${workspaceFolder}", "remoteRoot": remote_folder}]
    return (
        f"In VS Code, in launch.json:\n{json.dumps(configuration)}\n"
        f"In a terminal:\ndynascope debug --connect {host}:{port} -b FUNCTION"
    )
