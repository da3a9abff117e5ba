"""Let the tests' fork server run this process's program, if it uses torch; see tests/support/fork_server."""

from __future__ import annotations

import os
import re
import sys

_PROGRAMS, _TOOLS = "FORK_SERVER_OF_PROGRAMS", "FORK_SERVER_OF_TOOLS"
_LAUNCHERS = ("launcher", "record_launcher", "trial_launcher")
_OF_DYNASCOPE = (
    ["-m", "dynascope", "dap"],
    ["-m", "dynascope", "debug"],
    ["-m", "dynascope_lsp"],
    ["-P", "-m", "dynascope.debugpy_adapter"],
)
_MODULES = tuple(f"dynascope.agent.session.startup.{name}" for name in _LAUNCHERS)
_DEBUGGERS = ("/dynascope/agent/session/startup/runpy.py", "/debugpy/_vendored/pydevd/pydevd.py")
_KNOWN = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER"}
_KNOWN |= {"TORCHINDUCTOR_CACHE_DIR", "TORCH_NCCL_ASYNC_ERROR_HANDLING"}  # read when they are needed
_KNOWN |= {
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "TORCH_LOGS",
    "TORCH_LOGS_FORMAT",
    "TORCH_TRACE",
}  # read again by the server
_KNOWN |= {"OMP_NUM_THREADS"}
_KNOWN |= {"TORCHINDUCTOR_VEC_ISA_OK"}  # the server has it, too
_KNOWN |= {"PYTHON", "TORCH"}  # of the Makefile, which `make` hands on when they are given to it
_READ_AT_START = ("PYTHON", "TORCH", "OMP_", "MKL_", "CUDA", "LD_", "TRITON", "NUMPY", "OPENBLAS_NUM")
_IMPORTS_TORCH = re.compile(r"\b(import|from)\b.*\btorch\b")


def server_and_arguments() -> tuple[str, list[str]] | None:
    """Return the variable of the server for this program, and its command line; None if it is to run here."""
    arguments = sys.orig_argv[1:]
    if not arguments or os.isatty(0) or any(_is_special(name) for name in os.environ):
        return None  # signals of a terminal reach its own session alone
    if any(arguments[: len(each)] == each for each in _OF_DYNASCOPE):
        return _TOOLS, arguments[arguments[0] == "-P" :]
    multiprocessing = "multiprocessing.spawn" in " ".join(arguments)
    while arguments[:2] == ["-X", "frozen_modules=off"] or (arguments[0] == "-P" and multiprocessing):
        del arguments[: 1 + (arguments[0] == "-X")]  # options that the server itself has are inherited from it
    match arguments:
        case ["-c", code, *_]:
            wants = multiprocessing or _imports_torch(code)
        case ["-m", module, *more] if module in _MODULES:
            wants = _imports_torch(_text(more))
        case [script, *more] if script.endswith(_DEBUGGERS):
            wants = _imports_torch(_text(more))
        case ["-u", script, *_] if not script.startswith("-"):
            os.environ["PYTHONUNBUFFERED"] = "1"
            del arguments[0]
            wants = _imports_torch(_text([script]))
        case [script, *_] if not script.startswith("-"):
            wants = _imports_torch(_text([script]))
        case _:
            return None
    return (_PROGRAMS, arguments) if wants else None


def _is_special(name: str) -> bool:
    """Whether Python or torch reads this variable when it starts, or is imported."""
    return name.startswith(_READ_AT_START) and not name.startswith("TORCHELASTIC_") and name not in _KNOWN


def _imports_torch(source: str) -> bool:
    return _IMPORTS_TORCH.search(source) is not None


def _text(arguments: list[str]) -> str:
    """Return the source that the command line names: code, modules of this folder and scripts."""
    texts = []
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if before == "-c":
            return argument
        if before == "-m":
            argument = argument.replace(".", "/") + ".py"
        if argument.endswith(".py"):
            try:
                with open(argument, encoding="utf-8") as file:
                    texts.append(file.read())
            except (OSError, ValueError):
                pass
    return "\n".join(texts)


def hand_over(address: str, arguments: list[str]) -> None:
    """Have a server fork a process for the program, and end as it does. Return if the server cannot be reached."""
    import json
    import signal
    import socket

    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        return
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            return  # the socket may have taken its number
    files = sorted(int(name) for name in os.listdir("/proc/self/fd") if _is_inheritable(int(name)))
    ignored = [number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN]
    passed_on = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGPIPE, *ignored}
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)
    mask = os.umask(0)
    process = {
        "arguments": arguments,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "files": files,
        "ignored": [int(number) for number in ignored],
        "umask": mask,
        "warnings": sys.warnoptions,
    }
    text = json.dumps(process).encode()
    socket.send_fds(connection, [len(text).to_bytes(8, "big")], files)
    connection.sendall(text)
    os.closerange(0, connection.fileno())
    os.closerange(connection.fileno() + 1, max(files) + 1)

    def pass_on(number: int, frame: object) -> None:
        connection.sendall(bytes([number]))

    for number in passed_on:
        try:
            signal.signal(number, pass_on)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    answer = b""
    while len(answer) < 4:
        more = connection.recv(4 - len(answer))
        if not more:
            os._exit(98)  # the server has ended
        answer += more
    code = int.from_bytes(answer, "big", signed=True)
    if code >= 0:
        os._exit(code)
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
    os._exit(99)


def _is_inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


if os.environ.get(_PROGRAMS) and (_found := server_and_arguments()):
    hand_over(os.environ[_found[0]], _found[1])
