"""The command `dynascope mcp`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import click


@click.command()
@click.option("--http", type=int, metavar="PORT", help="Serve over HTTP on 127.0.0.1 (0: any port), with a token.")
@click.argument("workspace", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
def mcp(http: int | None, workspace: Path | None) -> None:
    """Serve an agent over the Model Context Protocol, on stdin and stdout.

    Programs run in WORKSPACE, by default the current folder, with this Python; facts are in its .dynascope.
    """
    if importlib.util.find_spec("mcp") is None:
        raise click.ClickException("The package mcp is missing: pip install 'dynascope[mcp]'.")
    if workspace is not None:
        os.chdir(workspace)

    from dynascope.mcp.server import serve_http, serve_stdio

    serve_stdio() if http is None else serve_http(http)
