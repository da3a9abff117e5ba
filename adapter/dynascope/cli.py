"""The `dynascope` command. Each subcommand does its imports when it runs, so that all start quickly."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

_ELSEWHERE = {
    "attach": "dynascope.remote.command:attach",
    "check": "dynascope.report.check.command:check",
    "debug": "dynascope.terminal.command:debug",
    "explain": "dynascope.report.explain_command:explain",
    "import": "dynascope.recording.command:import_trace",
    "mcp": "dynascope.mcp.command:mcp",
    "profile": "dynascope.report.profile.command:profile",
    "report": "dynascope.report.command:report",
    "run": "dynascope.recording.command:run",
    "top": "dynascope.report.top.command:top",
}
"""Commands of other packages: module and function."""


class LazyGroup(click.Group):
    """A group that imports a command of another package only when that command runs."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*super().list_commands(context), *_ELSEWHERE])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in _ELSEWHERE:
            module, _, attribute = _ELSEWHERE[name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command
        return super().get_command(context, name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dynascope", prog_name="dynascope", help="Show the version.")
def main() -> None:
    """Debug the compile time of torch.compile."""


@main.command()
@click.option("--listen", metavar="HOST:PORT", help="Serve one client over TCP on this loopback address (port 0: any).")
@click.option("--log-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the log there.")
@click.option("--verbose", is_flag=True, help="Log everything, to stderr too.")
def dap(listen: str | None, log_file: Path | None, verbose: bool) -> None:
    """Serve the Debug Adapter Protocol over stdin and stdout, or over TCP."""
    from dynascope import debugpy_process

    if listen is None:
        debugpy_process.start_early()
    from dynascope.dap import server

    if listen is None:
        sys.exit(server.serve_stdio(log_file, verbose))
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit():
        raise click.BadParameter(f"{listen!r} is not HOST:PORT", param_hint="--listen")
    try:
        sys.exit(server.serve_address(host.strip("[]"), int(port), log_file, verbose))
    except server.NotLoopback:
        raise click.ClickException(
            f"{host} is not a loopback address. Any client that connects can run code as you, so only this machine "
            "may connect: listen on 127.0.0.1, and use an SSH tunnel from other machines."
        ) from None
    except (OSError, ValueError) as error:
        raise click.ClickException(f"Cannot listen on {listen}: {error}.") from None


@main.command()
@click.option("--stdio", is_flag=True, expose_value=False, help="The default; some editors pass it.")
def lsp() -> None:
    """Serve the Language Server Protocol over stdin and stdout."""
    from dynascope_lsp.server import serve

    serve()
