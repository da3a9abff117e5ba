"""The `dynascope debug` command."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import BinaryIO

import click

from dynascope.terminal.program import DebuggedProgram
from dynascope.wire.command_lines import MODULES, module_or_script

_TAKES_VALUE = "-b", "--break", "--catch", "--commands", "--command", "--rank", "--pid", "--connect", "--token-file"
"""The options, other than `-m` and `-c`, that take the word after them."""


class LikePython(click.Command):
    """Pass everything after `-m MODULE` or `-c CODE` to the program, as `python` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        takes_value = {*_TAKES_VALUE}
        position = 0
        while position < len(args) and args[position].startswith("-") and args[position] != "--":
            if args[position] == "--compiled-autograd":
                args = [*args[:position], "--compiled-autograd=inductor", *args[position + 1 :]]
            word = args[position]
            position += 2 if word in takes_value | {"-m", "-c"} else 1
            if word[:2] in ("-m", "-c"):
                args = [*args[:position], "--", *args[position:]]
                break
        return super().parse_args(ctx, args)


@click.command(cls=LikePython, context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Debug a module, as `python -m MODULE` runs it.")
@click.option("-c", "code", metavar="CODE", help="Debug a piece of code, as `python -c CODE` runs it.")
@click.option(
    "-b",
    "--break",
    "breakpoints",
    metavar="WHERE",
    multiple=True,
    help="Set a breakpoint: FILE:LINE, FILE:FUNCTION, FUNCTION, or any other location of `break`. Repeatable.",
)
@click.option(
    "--catch",
    "filters",
    metavar="FILTER",
    multiple=True,
    help='Stop by an exception filter and its condition, if any: recompile, "graphBreak GB0059, my code". Repeatable.',
)
@click.option("--runtime/--no-runtime", default=True, show_default=True, help="Debug the running program too.")
@click.option("--just-my-code/--no-just-my-code", default=True, show_default=True, help="Step over library code.")
@click.option("--stop-on-entry", is_flag=True, help="Stop at the program's first line.")
@click.option("--debug-dynamo", is_flag=True, help="Stop in Dynamo's own Python too; compiling is then much slower.")
@click.option("--record/--no-record", default=True, show_default=True, help="Record Dynamo's decisions in .dynascope/.")
@click.option(
    "--compiled-autograd",
    metavar="[=BACKEND]",
    help="Capture the program's backwards and compile them (default: with inductor).",
)
@click.option("--pid", type=int, metavar="N", help="Attach to a running process, which goes on at the end.")
@click.option("--connect", metavar="HOST:PORT", help="Attach to a program that has called dynascope.listen().")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.File("rb"),
    help="The file that listen() has printed, or one with the token; needed from another machine or user.",
)
@click.option("--rank", type=int, metavar="N", help="With torchrun: debug only this rank.")
@click.option(
    "--commands",
    "command_file",
    metavar="FILE",
    type=click.File("r", encoding="utf-8"),
    help="Run the commands of a file (`-`: standard input) instead of prompting.",
)
@click.option("--command", "command_lines", metavar="COMMAND", multiple=True, help="Run a command. Repeatable.")
@click.argument("target", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT] [ARGUMENTS]...")
def debug(
    module: str | None,
    code: str | None,
    breakpoints: tuple[str, ...],
    filters: tuple[str, ...],
    runtime: bool,
    just_my_code: bool,
    stop_on_entry: bool,
    debug_dynamo: bool,
    record: bool,
    compiled_autograd: str | None,
    pid: int | None,
    connect: str | None,
    token_file: BinaryIO | None,
    rank: int | None,
    command_file: Iterable[str] | None,
    command_lines: tuple[str, ...],
    target: tuple[str, ...],
) -> None:
    """Debug a program at a prompt: its compile time (while TorchDynamo traces) and run time.

    \b
    dynascope debug -b model.py:12 train.py --epochs 1
    dynascope debug --catch graphBreak train.py
    dynascope debug -b model.py:forward --command locals --command guards train.py
    dynascope debug -b model.py:12 pytest tests/test_model.py
    dynascope debug -b model.py:12 torchrun --nproc-per-node=2 train.py
    dynascope debug -b model.py:12 --pid 4711
    """
    if stop_on_entry and (pid is not None or connect is not None):
        raise click.UsageError("a program that runs already has no first line to stop at: leave out --stop-on-entry")
    reads_stdin = command_file is not None and getattr(command_file, "name", "") in ("-", "<stdin>")
    listed = command_file is not None or bool(command_lines)
    interactive = not listed and sys.stdin.isatty()
    is_job = _is_job(module, rank, runtime, target)
    if is_job and stop_on_entry:
        raise click.UsageError("torchrun itself never stops: set a breakpoint instead of --stop-on-entry")
    # debugpy's warning of Python's frozen modules: torchrun starts its ranks without the option that prevents it
    environment = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"} if is_job else {}
    program = replace(
        _running(pid, connect, token_file, (module, code, *target)) or program_from(module, code, target),
        runtime=runtime,
        just_my_code=just_my_code,
        stop_on_entry=stop_on_entry,
        debug_dynamo=debug_dynamo,
        record=record,
        compiled_autograd=compiled_autograd,
        is_job=is_job,
        rank=rank,
        # keeps the order of its lines and the debugger's
        environment=environment | ({} if sys.stdout.isatty() else {"PYTHONUNBUFFERED": "1"}),
    )
    lines: Iterable[str] = [*(command_file or ()), *command_lines] if listed else sys.stdin

    # importing prompt_toolkit and rich takes a tenth of a second, which `dynascope debug --help` saves
    from dynascope.terminal.prompt import ENDING_SIGNALS, debug_program

    for ending in ENDING_SIGNALS:
        signal.signal(ending, lambda number, frame: sys.exit(128 + number))
    share_stdin = interactive or (listed and not reads_stdin)
    sys.exit(debug_program(program, breakpoints, filters, None if interactive else lines, share_stdin))


def _is_job(module: str | None, rank: int | None, runtime: bool, target: tuple[str, ...]) -> bool:
    """Whether the program is torchrun. Raises click.UsageError for options that do not fit."""
    is_command = module is None and target[:1] == ("torchrun",) and not os.path.exists("torchrun")
    if module != MODULES["torchrun"] and not is_command:
        if rank is not None:
            raise click.UsageError("--rank is for torchrun: `dynascope debug --rank 1 torchrun … train.py`")
        return False
    if not runtime:
        raise click.UsageError("the ranks of torchrun are found through debugpy: leave out --no-runtime")
    return True


def _running(
    pid: int | None, connect: str | None, token_file: BinaryIO | None, others: Iterable[str | None]
) -> DebuggedProgram | None:
    """Return the running program to attach to, or None. Raises click.UsageError."""
    if connect is None and token_file is not None:
        raise click.UsageError("--token-file is for --connect HOST:PORT")
    if pid is None and connect is None:
        return None
    if (pid is not None and connect is not None) or any(others):
        raise click.UsageError("--pid and --connect exclude each other, and a program to be started")
    if connect is None:
        return DebuggedProgram("process", str(pid))
    if not connect.rpartition(":")[2].isdecimal():
        raise click.UsageError(f"--connect takes HOST:PORT, not {connect!r}")
    return DebuggedProgram("address", connect, token=None if token_file is None else _token(token_file))


def _token(file: BinaryIO) -> str:
    text = file.read().decode(errors="replace").strip()
    try:
        return str(json.loads(text)["token"]) if text.startswith("{") else text
    except (ValueError, KeyError):
        raise click.UsageError(f"{file.name} has no token") from None


def program_from(module: str | None, code: str | None, target: tuple[str, ...]) -> DebuggedProgram:
    """Return the program that a command line names. Raises click.UsageError."""
    if module is not None and code is not None:
        raise click.UsageError("-m and -c exclude each other")
    if module is None and code is None and not target:
        raise click.UsageError("which program? `dynascope debug SCRIPT`, `-m MODULE` or `-c CODE`")
    if module is not None:
        return DebuggedProgram("module", module, target)
    if code is not None:
        return DebuggedProgram("code", code, target)
    if not os.path.exists(target[0]):
        command, script = module_or_script(target[0])
        if command is not None:
            return DebuggedProgram("module", command, target[1:])
        if script is not None:
            return DebuggedProgram("program", script, target[1:])
    try:
        open(target[0], "rb").close()
    except OSError as error:
        name = target[0]
        is_module = name.isidentifier() and importlib.util.find_spec(name) is not None
        hint = f"; `-m {name}` debugs the module of that name" if is_module else ""
        raise click.UsageError(f"cannot read {name}: {error.strerror}{hint}") from error
    return DebuggedProgram("program", target[0], target[1:])
